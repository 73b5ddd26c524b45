//! gzip (RFC 1952), with any number of members. What follows a member and does not begin another
//! is ignored, as browsers do.

use flate2::Crc;

use super::{Corrupt, Decoder, Step, deflate::Inflate};

const MAGIC: u8 = 0x1f;
const TRAILER: usize = 8;

const HAS_HEADER_CRC: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;

pub(super) struct Gzip {
    state: State,
    members: u64,
}

enum State {
    Header(Header),
    Body {
        inflate: Box<Inflate>,
        sum: Crc,
    },
    Trailer {
        seen: Vec<u8>,
        sum: Crc,
    },
    /// Between members.
    Next,
    Ignored,
}

impl Default for Gzip {
    fn default() -> Self {
        Self {
            state: State::Header(Header::default()),
            members: 0,
        }
    }
}

impl Decoder for Gzip {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        match &mut self.state {
            State::Header(header) => {
                let (read, done) = header.take(input)?;
                if done {
                    self.state = State::Body {
                        inflate: Box::new(Inflate::new(false)),
                        sum: Crc::new(),
                    };
                }
                Ok(Step { read, written: 0 })
            }
            State::Body { inflate, sum } => {
                let step = inflate.step(input, output)?;
                sum.update(output.get(..step.written).unwrap_or_default());
                if inflate.ended {
                    self.state = State::Trailer {
                        seen: Vec::with_capacity(TRAILER),
                        sum: std::mem::replace(sum, Crc::new()),
                    };
                }
                Ok(step)
            }
            State::Trailer { seen, sum } => {
                let read = input.len().min(TRAILER - seen.len());
                seen.extend_from_slice(&input[..read]);
                if seen.len() == TRAILER {
                    verify(seen, sum)?;
                    self.members += 1;
                    self.state = State::Next;
                }
                Ok(Step { read, written: 0 })
            }
            State::Next => {
                match input.first() {
                    None => return Ok(Step::default()),
                    Some(&MAGIC) => self.state = State::Header(Header::default()),
                    Some(_) => self.state = State::Ignored,
                }
                self.step(input, output)
            }
            State::Ignored => Ok(Step {
                read: input.len(),
                written: 0,
            }),
        }
    }

    fn is_complete(&self) -> bool {
        self.members > 0 && matches!(self.state, State::Next | State::Ignored)
    }
}

fn verify(trailer: &[u8], sum: &Crc) -> Result<(), Corrupt> {
    let expected = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
    if trailer == expected {
        Ok(())
    } else {
        Err(Corrupt)
    }
}

/// Walks over a member's header, a byte at a time.
#[derive(Default)]
struct Header {
    /// Position within the ten fixed bytes, then within whatever is being skipped.
    position: usize,
    flags: u8,
    part: Part,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Part {
    #[default]
    Fixed,
    ExtraLength(u16),
    Extra(u16),
    Name,
    Comment,
    HeaderCrc,
    Done,
}

impl Header {
    fn take(&mut self, input: &[u8]) -> Result<(usize, bool), Corrupt> {
        for (index, byte) in input.iter().enumerate() {
            self.byte(*byte)?;
            if self.part == Part::Done {
                return Ok((index + 1, true));
            }
        }
        Ok((input.len(), false))
    }

    fn byte(&mut self, byte: u8) -> Result<(), Corrupt> {
        let position = self.position;
        self.position += 1;
        match self.part {
            Part::Fixed => match position {
                0 if byte != MAGIC => Err(Corrupt),
                1 if byte != 0x8b => Err(Corrupt),
                2 if byte != 8 => Err(Corrupt),
                3 => {
                    self.flags = byte;
                    Ok(())
                }
                9 => self.next_after(0),
                _ => Ok(()),
            },
            Part::ExtraLength(low) if position == 0 => {
                self.part = Part::ExtraLength(low | u16::from(byte));
                Ok(())
            }
            Part::ExtraLength(low) => match low | u16::from(byte) << 8 {
                0 => self.next_after(HAS_EXTRA),
                length => self.enter(Part::Extra(length)),
            },
            Part::Extra(length) if position + 1 < usize::from(length) => Ok(()),
            Part::Extra(_) => self.next_after(HAS_EXTRA),
            Part::Name if byte == 0 => self.next_after(HAS_NAME),
            Part::Comment if byte == 0 => self.next_after(HAS_COMMENT),
            Part::HeaderCrc if position == 1 => self.next_after(HAS_HEADER_CRC),
            Part::Name | Part::Comment | Part::HeaderCrc | Part::Done => Ok(()),
        }
    }

    /// Goes on to the next part that is there; `done` is the flag of the one that just ended.
    fn next_after(&mut self, done: u8) -> Result<(), Corrupt> {
        self.flags &= !done;
        let part = if self.flags & HAS_EXTRA != 0 {
            Part::ExtraLength(0)
        } else if self.flags & HAS_NAME != 0 {
            Part::Name
        } else if self.flags & HAS_COMMENT != 0 {
            Part::Comment
        } else if self.flags & HAS_HEADER_CRC != 0 {
            Part::HeaderCrc
        } else {
            Part::Done
        };
        self.enter(part)
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "lets every arm above end in one way"
    )]
    fn enter(&mut self, part: Part) -> Result<(), Corrupt> {
        self.part = part;
        self.position = 0;
        Ok(())
    }
}

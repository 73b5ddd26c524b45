//! What changed between two versions of a text, line by line. Pure.

/// Lines around a change that are shown as well.
const CONTEXT: usize = 3;
/// Texts with more differences are called different as a whole: finding the least number of them
/// would cost its square.
const MOST_CHANGES: usize = 1000;

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Same,
    Removed,
    Added,
}

/// A stretch of lines with changes in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// Its first line in the old and in the new text, from 1.
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<(Op, &'t str)>,
}

/// The changes from one text to another, in their order.
pub fn diff<'t>(old: &'t str, new: &'t str) -> Vec<Hunk<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    hunks(&all_lines(&old, &new))
}

/// Every line of both texts once, with what became of it.
fn all_lines<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Op, &'t str)> {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let (old_mid, new_mid) = (
        &old_rest[..old_rest.len() - after],
        &new_rest[..new_rest.len() - after],
    );
    let mut lines: Vec<(Op, &str)> = old[..before].iter().map(|line| (Op::Same, *line)).collect();
    lines.extend(middle(old_mid, new_mid));
    let tail = &old_rest[old_rest.len() - after..];
    lines.extend(tail.iter().map(|line| (Op::Same, *line)));
    lines
}

/// The shortest way from one list of lines to the other (Myers' greedy search).
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Op, &'t str)> {
    let most = (old.len() + new.len()).min(MOST_CHANGES);
    let offset = most as isize + 1;
    // The furthest place in `old` on each diagonal, and how it stood before each step.
    let mut furthest = vec![0_usize; 2 * most + 3];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    for step in 0..=most as isize {
        steps.push(furthest[(offset - step - 1) as usize..=(offset + step + 1) as usize].to_vec());
        for diagonal in (-step..=step).step_by(2) {
            let at = (offset + diagonal) as usize;
            let down = diagonal == -step || diagonal != step && furthest[at - 1] < furthest[at + 1];
            let mut x = if down {
                furthest[at + 1]
            } else {
                furthest[at - 1] + 1
            };
            let mut y = (x as isize - diagonal) as usize;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[at] = x;
            if x >= old.len() && y >= new.len() {
                return walk_back(old, new, &steps);
            }
        }
    }
    let removed = old.iter().map(|line| (Op::Removed, *line));
    removed
        .chain(new.iter().map(|line| (Op::Added, *line)))
        .collect()
}

/// From the ends of both texts to their beginnings, along the steps that were taken.
fn walk_back<'t>(old: &[&'t str], new: &[&'t str], steps: &[Vec<usize>]) -> Vec<(Op, &'t str)> {
    let (mut x, mut y) = (old.len(), new.len());
    let mut lines = Vec::new();
    for (step, furthest) in steps.iter().enumerate().rev() {
        let step = step as isize;
        let diagonal = x as isize - y as isize;
        // The list of a step begins one diagonal before its first.
        let at = |diagonal: isize| furthest[(diagonal + step + 1) as usize];
        let down = diagonal == -step || diagonal != step && at(diagonal - 1) < at(diagonal + 1);
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) = if step == 0 {
            (0, 0)
        } else {
            (at(before), (at(before) as isize - before) as usize)
        };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            lines.push((Op::Same, old[x]));
        }
        if step > 0 {
            if down {
                y -= 1;
                lines.push((Op::Added, new[y]));
            } else {
                x -= 1;
                lines.push((Op::Removed, old[x]));
            }
        }
    }
    lines.reverse();
    lines
}

/// Lines near a change, in stretches.
fn hunks<'t>(lines: &[(Op, &'t str)]) -> Vec<Hunk<'t>> {
    let mut hunks: Vec<Hunk<'t>> = Vec::new();
    let changes = lines.iter().enumerate();
    let changes: Vec<usize> = changes
        .filter(|(_, (op, _))| *op != Op::Same)
        .map(|(at, _)| at)
        .collect();
    let mut end = 0;
    let (mut old, mut new, mut counted) = (1, 1, 0);
    for at in changes {
        let start = at.saturating_sub(CONTEXT).max(end);
        let stop = (at + 1 + CONTEXT).min(lines.len());
        if stop <= end {
            continue;
        }
        for (op, _) in &lines[counted..start] {
            old += usize::from(*op != Op::Added);
            new += usize::from(*op != Op::Removed);
        }
        counted = start;
        let shown = lines[start..stop].iter().copied();
        match hunks.last_mut() {
            Some(last) if start == end => last.lines.extend(shown),
            _ => hunks.push(Hunk {
                old_start: old,
                new_start: new,
                lines: shown.collect(),
            }),
        }
        end = stop;
    }
    hunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(old: &str, new: &str) -> Vec<String> {
        let mark = |op| match op {
            Op::Same => ' ',
            Op::Removed => '-',
            Op::Added => '+',
        };
        let lines = diff(old, new).into_iter().flat_map(|hunk| hunk.lines);
        lines
            .map(|(op, line)| format!("{}{line}", mark(op)))
            .collect()
    }

    #[test]
    fn changes_come_with_the_lines_around_them() {
        assert_eq!(written("a\nb\nc", "a\nx\nc"), [" a", "-b", "+x", " c"]);
        assert!(diff("a\nb", "a\nb").is_empty());
        let old: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
        let mut new = old.clone();
        new[14] = "fifteen".into();
        new.remove(0);
        let (old, new) = (old.join("\n"), new.join("\n"));
        let hunks = diff(&old, &new);
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[0].old_start, hunks[0].new_start), (1, 1));
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (12, 11));
        assert_eq!(hunks[1].lines.len(), 8);
    }

    #[test]
    fn texts_that_have_nothing_in_common_are_replaced_as_a_whole() {
        let old: Vec<String> = (0..2000).map(|n| format!("old {n}")).collect();
        let new: Vec<String> = (0..2000).map(|n| format!("new {n}")).collect();
        let (old, new) = (old.join("\n"), new.join("\n"));
        assert_eq!(diff(&old, &new)[0].lines.len(), 4000);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_all_lines(
            old in prop::collection::vec("[abc]", 0..20), new in prop::collection::vec("[abc]", 0..20)
        ) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let lines = all_lines(&old, &new);
            let side = |not: Op| -> Vec<&str> {
                lines.iter().filter(|(op, _)| *op != not).map(|(_, line)| *line).collect()
            };
            prop_assert_eq!(side(Op::Added), old);
            prop_assert_eq!(side(Op::Removed), new);
        }
    }
}

//! SOCKS5 (RFC 1928) with user names and passwords (RFC 1929): asks a proxy for a connection.

use std::net::IpAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use trawl_types::OutcomeKind;

use super::{
    proxy::{Aim, Credentials, failure},
    target::Host,
};
use crate::ended::End;

const VERSION: u8 = 5;
const NO_CREDENTIALS: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

pub(crate) async fn open(
    tcp: &mut TcpStream,
    aim: &Aim,
    credentials: Option<&Credentials>,
) -> Result<(), End> {
    greet(tcp, credentials).await?;
    let mut request = vec![VERSION, CONNECT, 0];
    write_host(&mut request, &aim.host)?;
    request.extend_from_slice(&aim.port.to_be_bytes());
    tcp.write_all(&request).await.map_err(|_| hung_up())?;
    read_answer(tcp).await
}

async fn greet(tcp: &mut TcpStream, credentials: Option<&Credentials>) -> Result<(), End> {
    let offer: &[u8] = match credentials {
        Some(_) => &[VERSION, 2, NO_CREDENTIALS, USER_AND_PASSWORD],
        None => &[VERSION, 1, NO_CREDENTIALS],
    };
    tcp.write_all(offer).await.map_err(|_| hung_up())?;
    let mut choice = [0; 2];
    tcp.read_exact(&mut choice).await.map_err(|_| hung_up())?;
    match (choice, credentials) {
        ([VERSION, NO_CREDENTIALS], _) => Ok(()),
        ([VERSION, USER_AND_PASSWORD], Some(credentials)) => log_in(tcp, credentials).await,
        ([VERSION, _], _) => Err(failure("the proxy wants other credentials")),
        _ => Err(failure("the proxy does not speak SOCKS5")),
    }
}

async fn log_in(tcp: &mut TcpStream, credentials: &Credentials) -> Result<(), End> {
    let mut message = vec![1];
    for text in [&credentials.user, &credentials.password] {
        message.push(short_length(text)?);
        message.extend_from_slice(text.as_bytes());
    }
    tcp.write_all(&message).await.map_err(|_| hung_up())?;
    let mut answer = [0; 2];
    tcp.read_exact(&mut answer).await.map_err(|_| hung_up())?;
    match answer {
        [_, 0] => Ok(()),
        _ => Err(failure("the proxy wants other credentials")),
    }
}

fn write_host(request: &mut Vec<u8>, host: &Host) -> Result<(), End> {
    match host {
        Host::Address(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend_from_slice(&address.octets());
        }
        Host::Address(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend_from_slice(&address.octets());
        }
        Host::Name(name) => {
            request.push(NAME);
            request.push(short_length(name)?);
            request.extend_from_slice(name.as_bytes());
        }
    }
    Ok(())
}

async fn read_answer(tcp: &mut TcpStream) -> Result<(), End> {
    let mut start = [0; 4];
    tcp.read_exact(&mut start).await.map_err(|_| hung_up())?;
    let [version, reply, _, kind] = start;
    if version != VERSION {
        return Err(failure("the proxy does not speak SOCKS5"));
    }
    if reply != 0 {
        return Err(End::new(
            OutcomeKind::ProxyFailure,
            format!("the proxy did not connect: {}", explain(reply)),
        ));
    }
    // The address it bound follows and is of no use, but has to be read.
    let length = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => usize::from(tcp.read_u8().await.map_err(|_| hung_up())?),
        _ => return Err(failure("the proxy's answer cannot be read")),
    };
    let mut bound = vec![0; length + 2];
    tcp.read_exact(&mut bound).await.map_err(|_| hung_up())?;
    Ok(())
}

fn explain(reply: u8) -> &'static str {
    match reply {
        2 => "not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        _ => "general failure",
    }
}

fn short_length(text: &str) -> Result<u8, End> {
    u8::try_from(text.len()).map_err(|_| failure("a name is too long for SOCKS5"))
}

fn hung_up() -> End {
    failure("the proxy hung up")
}

//! The signature that S3 and its likes ask for (AWS Signature Version 4). Pure: time is an argument.

use sha2::{Digest, Sha256};

/// Who asks, and for which region.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) key: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
    pub(super) region: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// A request to be signed: everything in it is as it will be sent.
#[derive(Debug)]
pub(super) struct Unsigned<'r> {
    pub(super) method: &'r str,
    pub(super) host: &'r str,
    /// Encoded.
    pub(super) path: &'r str,
    /// Encoded, in the order of names, without the question mark.
    pub(super) query: &'r str,
    /// Of the body, in hexadecimal digits.
    pub(super) sha256: &'r str,
    /// `20260131T120000Z`.
    pub(super) at: &'r str,
    /// Further headers, in lower case.
    pub(super) headers: Vec<(&'r str, String)>,
}

/// The headers to send, that with the signature among them.
pub(super) fn sign(request: Unsigned<'_>, who: &Credentials) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = request
        .headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    headers.push(("host".into(), request.host.to_owned()));
    headers.push(("x-amz-content-sha256".into(), request.sha256.to_owned()));
    headers.push(("x-amz-date".into(), request.at.to_owned()));
    if let Some(token) = &who.token {
        headers.push(("x-amz-security-token".into(), token.clone()));
    }
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let lines = headers
        .iter()
        .map(|(name, value)| format!("{name}:{}\n", value.trim()));
    let lines = lines.collect::<Vec<_>>().concat();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method, request.path, request.query, request.sha256
    );
    let day = request.at.get(..8).unwrap_or_default();
    let scope = format!("{day}/{}/s3/aws4_request", who.region);
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        request.at,
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let mut key = format!("AWS4{}", who.secret).into_bytes();
    for part in [day, &who.region, "s3", "aws4_request"] {
        key = hmac(&key, part.as_bytes()).to_vec();
    }
    let signature = hex(&hmac(&key, text.as_bytes()));
    let value = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        who.key
    );
    headers.push(("authorization".into(), value));
    headers
}

/// RFC 2104.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text);
    let outer = Sha256::new().chain_update(padded(0x5c));
    outer.chain_update(inner.finalize()).finalize().into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A path as it is signed and sent: everything but letters, digits and `-._~/` by its bytes.
pub(super) fn encoded(path: &str) -> String {
    use std::fmt::Write;
    path.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(byte as char);
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_4231() {
        let code = hmac(&[0x0b; 20], b"Hi There");
        assert_eq!(
            hex(&code),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        let code = hmac(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
        );
        assert_eq!(
            hex(&code),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    /// The example of the documentation of S3, "PUT Object".
    #[test]
    fn a_signature_is_the_one_of_the_documented_example() {
        let who = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".into(),
        };
        let request = Unsigned {
            method: "PUT",
            host: "examplebucket.s3.amazonaws.com",
            path: &encoded("/test$file.text"),
            query: "",
            sha256: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            at: "20130524T000000Z",
            headers: vec![
                ("date", "Fri, 24 May 2013 00:00:00 GMT".into()),
                ("x-amz-storage-class", "REDUCED_REDUNDANCY".into()),
            ],
        };
        let headers = sign(request, &who);
        let (_, value) = headers.last().unwrap();
        assert!(
            value.ends_with(
                "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            "{value}"
        );
    }
}

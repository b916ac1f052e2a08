//! The body of a request: a form, a text, a file, or a multipart message.

use std::sync::Arc;

use super::request::{Buffers, Unsent, line};
use crate::plan::{HttpArgument, HttpFile, HttpRequest};
use crate::run::charset::Charset;
use crate::run::context::View;
use crate::run::encode;
use crate::run::outcome::NotHttp;

/// Largest file that is sent, bytes.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// The body of a request, in buffers that the next request reuses.
#[derive(Debug, Default)]
pub(super) struct Payload {
    pub bytes: Vec<u8>,
    /// The method has a body, which may be empty.
    pub is_sent: bool,
    /// Content type, unless a header manager sets one.
    content_type: String,
    /// It is a file: its type is written before the length.
    is_file: bool,
    /// It has parts: no header manager's type replaces its own.
    pub has_parts: bool,
    /// Scratch buffer for texts that are converted to another charset.
    pub scratch: Vec<u8>,
}

impl Payload {
    /// Empties it for the next request.
    pub fn begin(&mut self, is_sent: bool) {
        self.bytes.clear();
        self.content_type.clear();
        self.is_sent = is_sent;
        self.is_file = false;
        self.has_parts = false;
    }

    /// Appends its length and type as headers.
    pub fn write_head(&self, type_is_given: bool, out: &mut Vec<u8>) {
        if !self.is_sent && self.bytes.is_empty() {
            return;
        }
        let content_type = |out: &mut Vec<u8>| {
            if !type_is_given && !self.content_type.is_empty() {
                line(out, "Content-Type", &self.content_type);
            }
        };
        if self.is_file {
            content_type(out);
        }
        out.extend_from_slice(b"Content-Length: ");
        number(self.bytes.len(), out);
        out.extend_from_slice(b"\r\n");
        if !self.is_file {
            content_type(out);
        }
    }
}

fn number(mut value: usize, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut begin = digits.len();
    loop {
        begin -= 1;
        // A digit is below 10.
        digits[begin] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return out.extend_from_slice(&digits[begin..]);
        }
    }
}

/// True if all arguments are without a name: their values are the body.
pub(super) fn is_raw(request: &HttpRequest) -> bool {
    !request.arguments.is_empty()
        && request
            .arguments
            .iter()
            .all(|argument| argument.name.is_empty())
}

/// Renders the body of a request.
pub(super) fn fill(
    view: &mut View<'_>,
    request: &HttpRequest,
    charset: Charset,
    raw: bool,
    buffers: &mut Buffers,
) -> Result<(), Unsent> {
    let has_parts = request.files.iter().any(|file| !file.parameter.is_empty());
    if view.flag(&request.multipart) || has_parts {
        return multipart(view, request, charset, &mut buffers.payload);
    }
    if let [file] = request.files.as_slice() {
        let payload = &mut buffers.payload;
        payload.is_file = true;
        view.render(&file.mime_type, &mut payload.content_type);
        payload.bytes.extend_from_slice(&file_bytes(view, file)?);
        return Ok(());
    }
    let kind = match raw {
        true => "text/plain; charset=",
        false => "application/x-www-form-urlencoded; charset=",
    };
    buffers.payload.content_type.push_str(kind);
    buffers.payload.content_type.push_str(charset.name());
    if !raw {
        return form(view, request, charset, buffers);
    }
    for argument in &request.arguments {
        view.render(&argument.value, &mut buffers.value);
        charset.encode(&buffers.value, &mut buffers.payload.bytes);
    }
    Ok(())
}

fn form(
    view: &mut View<'_>,
    request: &HttpRequest,
    charset: Charset,
    buffers: &mut Buffers,
) -> Result<(), Unsent> {
    let mut separated = false;
    for argument in &request.arguments {
        view.render(&argument.name, &mut buffers.name);
        view.render(&argument.value, &mut buffers.value);
        if buffers.name.is_empty() {
            continue;
        }
        if !view.flag(&argument.encode) {
            // Encoded already: decoded first, because the client encodes everything.
            decode(&mut buffers.name, charset)?;
            decode(&mut buffers.value, charset)?;
        }
        let Payload { bytes, scratch, .. } = &mut buffers.payload;
        if std::mem::replace(&mut separated, true) {
            bytes.push(b'&');
        }
        encode::form(&buffers.name, charset, scratch, bytes);
        bytes.push(b'=');
        encode::form(&buffers.value, charset, scratch, bytes);
    }
    Ok(())
}

fn decode(text: &mut String, charset: Charset) -> Result<(), Unsent> {
    if text.contains(['%', '+']) {
        let plain = encode::unform(text, charset);
        *text = plain.map_err(|says| Unsent::Impossible(NotHttp::BadEscape, says))?;
    }
    Ok(())
}

fn file_bytes(view: &mut View<'_>, file: &HttpFile) -> Result<Arc<[u8]>, Unsent> {
    let path = view.text(&file.path);
    let read = view.test().file(&path, MOST_FILE_BYTES);
    read.map_err(|_| {
        let says = format!("{path} (No such file or directory)");
        Unsent::Impossible(NotHttp::NoFile, says)
    })
}

fn multipart(
    view: &mut View<'_>,
    request: &HttpRequest,
    charset: Charset,
    payload: &mut Payload,
) -> Result<(), Unsent> {
    let boundary = format!(
        "sokudo{:016x}{:016x}",
        view.thread.random().bits(),
        view.thread.random().bits()
    );
    let as_browser = view.flag(&request.browser_multipart);
    for argument in &request.arguments {
        argument_part(view, argument, &boundary, as_browser, charset, payload);
    }
    for file in &request.files {
        file_part(view, file, &boundary, as_browser, payload)?;
    }
    payload
        .bytes
        .extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    payload.has_parts = true;
    let charset = charset.name();
    payload.content_type = format!("multipart/form-data; boundary={boundary}; charset={charset}");
    Ok(())
}

fn argument_part(
    view: &mut View<'_>,
    argument: &HttpArgument,
    boundary: &str,
    as_browser: bool,
    charset: Charset,
    payload: &mut Payload,
) {
    let (name, value) = (view.text(&argument.name), view.text(&argument.value));
    if name.is_empty() {
        return;
    }
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n");
    if !as_browser {
        head += &format!(
            "Content-Type: {}; charset={}\r\nContent-Transfer-Encoding: 8bit\r\n",
            view.text(&argument.content_type),
            charset.name()
        );
    }
    // Names are written in UTF-8 whatever the charset is.
    payload.bytes.extend_from_slice(head.as_bytes());
    payload.bytes.extend_from_slice(b"\r\n");
    charset.encode(&value, &mut payload.bytes);
    payload.bytes.extend_from_slice(b"\r\n");
}

fn file_part(
    view: &mut View<'_>,
    file: &HttpFile,
    boundary: &str,
    as_browser: bool,
    payload: &mut Payload,
) -> Result<(), Unsent> {
    let (path, name, mime) = (
        view.text(&file.path),
        view.text(&file.parameter),
        view.text(&file.mime_type),
    );
    if mime.is_empty() {
        let says = "Invalid content type: ".to_owned();
        return Err(Unsent::Impossible(NotHttp::BadContentType, says));
    }
    let bytes = file_bytes(view, file)?;
    let file_name = path.rsplit(['/', '\\']).next().unwrap_or(&path);
    let mut head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: {mime}\r\n"
    );
    if !as_browser {
        head += "Content-Transfer-Encoding: binary\r\n";
    }
    // Names are written in UTF-8 whatever the charset is.
    payload.bytes.extend_from_slice(head.as_bytes());
    payload.bytes.extend_from_slice(b"\r\n");
    payload.bytes.extend_from_slice(&bytes);
    payload.bytes.extend_from_slice(b"\r\n");
    Ok(())
}

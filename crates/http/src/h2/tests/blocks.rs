//! Tests of header blocks.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let text = |pair: &[u8]| String::from_utf8_lossy(pair).into_owned();
    let byte = |pair: &[u8]| u8::from_str_radix(&text(pair), 16).expect("two digits");
    digits.chunks(2).map(byte).collect()
}

/// The fields of a block as lines.
fn read(decoder: &mut Decoder, block: &[u8], most: usize) -> Result<String, BadBlock> {
    let mut text = String::new();
    decoder.read(block, most, |name, value| {
        let part = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text.push_str(&format!("{}: {}\n", part(name), part(value)));
    })?;
    Ok(text)
}

#[track_caller]
fn check(decoder: &mut Decoder, block: &str, fields: &str) {
    let fields = fields.split('|').map(|field| format!("{field}\n"));
    let read = read(decoder, &bytes(block), 4096).expect("the standard can be read");
    assert_eq!(read, fields.collect::<String>());
}

/// RFC 7541 appendix C.2: each way to write a field.
#[test]
fn each_representation() {
    let mut decoder = Decoder::new();
    let custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
    check(&mut decoder, custom, "custom-key: custom-header");
    check(
        &mut decoder,
        "040c 2f73 616d 706c 652f 7061 7468",
        ":path: /sample/path",
    );
    check(
        &mut decoder,
        "1008 7061 7373 776f 7264 0673 6563 7265 74",
        "password: secret",
    );
    check(&mut decoder, "82", ":method: GET");
    check(&mut decoder, "be", "custom-key: custom-header");
}

/// RFC 7541 appendix C.3 and C.4: requests on one connection, written out and packed.
#[test]
fn requests_of_one_connection() {
    let fields = [
        ":method: GET|:scheme: http|:path: /|:authority: www.example.com",
        ":method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache",
        ":method: GET|:scheme: https|:path: /index.html|:authority: www.example.com|custom-key: custom-value",
    ];
    let written = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let packed = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [written, packed] {
        let mut decoder = Decoder::new();
        for (block, fields) in blocks.iter().zip(fields) {
            check(&mut decoder, block, fields);
        }
        assert_eq!(decoder.table_bytes(), 164);
    }
}

/// RFC 7541 appendix C.5 and C.6: responses that push each other out of a table of 256 bytes.
#[test]
fn responses_of_one_connection() {
    let fields = [
        ":status: 302|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com",
        ":status: 307|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com",
        ":status: 200|cache-control: private|date: Mon, 21 Oct 2013 20:13:22 GMT|location: https://www.example.com|content-encoding: gzip|set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ];
    let written = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ];
    let packed = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    for blocks in [written, packed] {
        let mut decoder = Decoder::with_table(256);
        for (block, fields) in blocks.iter().zip(fields) {
            check(&mut decoder, block, fields);
        }
        assert_eq!(decoder.table_bytes(), 215);
    }
}

#[test]
fn broken_blocks_are_refused() {
    let broken = |block: &[u8]| read(&mut Decoder::new(), block, 64).expect_err("it is broken");
    for block in [
        "80",                // number 0
        "be",                // an entry that was never added
        "ff ff ff ff ff 7f", // a number that does not end in time
        "40",                // no name
        "00 05 61",          // a name that is not there
        "82 20",             // another table size, not at the beginning
        "3f e2 1f",          // a table larger than ours
        "00 81 00 00",       // a packed name with padding of zeros
    ] {
        assert_eq!(broken(&bytes(block)), BadBlock::Broken, "{block}");
    }
    // 3 × (11 + 32) bytes are more than 64, whatever the block's own length.
    assert_eq!(broken(&bytes("82 82 82")), BadBlock::TooLong);
}

#[test]
fn a_table_of_no_size_holds_nothing() {
    let mut decoder = Decoder::new();
    check(&mut decoder, "20 40 01 61 01 62", "a: b");
    assert_eq!(decoder.table_bytes(), 0);
    assert_eq!(read(&mut decoder, &[0xbe], 64), Err(BadBlock::Broken));
    check(&mut decoder, "3f e1 1f 40 01 61 01 62", "a: b");
    assert_eq!(decoder.table_bytes(), 34);
}

proptest! {
    #[test]
    fn the_head_of_a_request_comes_back(
        fields in prop::collection::vec(("[a-z-]{1,20}", "[ -~]{0,900}"), 0..12),
        times in 1..4usize,
    ) {
        let all = || fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let head = RequestHead::new(all().chain([(":method", "GET")]));
        let expected: String = all().chain([(":method", "GET")])
            .map(|(name, value)| format!("{name}: {value}\n")).collect();
        let mut decoder = Decoder::new();
        prop_assert_eq!(&read(&mut decoder, &head.first, 1 << 20).expect("ours"), &expected);
        for _ in 0..times {
            prop_assert_eq!(&read(&mut decoder, &head.next, 1 << 20).expect("ours"), &expected);
        }
        prop_assert_eq!(&read(&mut decoder, &head.first, 1 << 20).expect("ours"), &expected);
    }
}


  // --- Keyed digests and the encodings of Apache Commons Codec --------------------------------------------------------
  const MACS = { HMACMD5: ["MD5", 64], HMACSHA1: ["SHA-1", 64], HMACSHA256: ["SHA-256", 64], HMACSHA384: ["SHA-384", 128], HMACSHA512: ["SHA-512", 128] };
  const macOf = (name) => MACS[name.toUpperCase()] ?? unsupported(`the algorithm ${name}`);
  // RFC 2104: H(K xor opad, H(K xor ipad, text))
  const hmac = (algorithm, key, bytes) => {
    const [inner, size] = macOf(algorithm);
    const block = [...(key.length > size ? digest(inner, key) : key)];
    while (block.length < size) block.push(0);
    const padded = (with_) => block.map((byte) => byte ^ with_);
    return digest(inner, [...padded(0x5c), ...digest(inner, [...padded(0x36), ...bytes])]);
  };
  const bytesOf = (v) => (typeof v === "string" ? encode(v) : v);
  // Commons Codec takes both alphabets, passes over other characters, and ends where the padding begins.
  const decodedBase64 = (of) => {
    const written = (typeof of === "string" ? of : decode(of, "ISO-8859-1")).split("=")[0];
    const digits = written.replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, "");
    return fromBase64(digits.length % 4 === 1 ? digits.slice(0, -1) : digits, BASE64);
  };
  function securityMethods() {
    const keyed = (v) => v.key ?? fail("IllegalStateException", "MAC not initialized");
    return {
      Mac: {
        init(v, key) {
          v.key = key.bytes;
          v.bytes = [];
        },
        update: (v, bytes) => void (keyed(v), v.bytes.push(...bytes)),
        doFinal(v, bytes = []) {
          const made = hmac(v.algorithm, keyed(v), [...v.bytes, ...bytes]);
          v.bytes = [];
          return made;
        },
        getAlgorithm: (v) => v.algorithm,
      },
      SecretKeySpec: { getAlgorithm: (v) => v.algorithm, getEncoded: (v) => array("byte", [...v.bytes]) },
      HmacUtils: { hmac: (v, data) => hmac(v.algorithm, v.key, bytesOf(data)), hmacHex: (v, data) => hex(hmac(v.algorithm, v.key, bytesOf(data))) },
      HmacAlgorithms: { getName: (v) => v.name },
      CodecBase64: {
        encode: (v, bytes) => encode(toBase64(bytes, BASE64, true)),
        encodeToString: (v, bytes) => toBase64(bytes, BASE64, true),
        decode: (v, of) => decodedBase64(of),
      },
    };
  }
  function securityStatics() {
    const algorithms = ["HMAC_MD5", "HMAC_SHA_1", "HMAC_SHA_256", "HMAC_SHA_384", "HMAC_SHA_512"];
    const by = (algorithm) => (data) => digest(algorithm, bytesOf(data));
    const hexBy = (algorithm) => (data) => hex(digest(algorithm, bytesOf(data)));
    return {
      Mac: {
        getInstance(algorithm) {
          macOf(algorithm);
          return object("Mac", { algorithm, key: null, bytes: [] });
        },
      },
      HmacAlgorithms: Object.fromEntries(algorithms.map((name) => [name, object("HmacAlgorithms", { name: `Hmac${name.slice(5).replace(/_/g, "")}` })])),
      DigestUtils: {
        md5: by("MD5"),
        sha1: by("SHA-1"),
        sha: by("SHA-1"),
        sha256: by("SHA-256"),
        sha384: by("SHA-384"),
        sha512: by("SHA-512"),
        md5Hex: hexBy("MD5"),
        sha1Hex: hexBy("SHA-1"),
        shaHex: hexBy("SHA-1"),
        sha256Hex: hexBy("SHA-256"),
        sha384Hex: hexBy("SHA-384"),
        sha512Hex: hexBy("SHA-512"),
      },
      Hex: {
        encodeHexString: (bytes) => hex(bytes),
        encodeHex: (bytes) => array("char", hex(bytes).split("").map(char)),
        decodeHex: (s) => (/^([0-9a-fA-F]{2})*$/.test(s) ? unhexed(s) : unsupported("this text in hexadecimal")),
      },
      CodecBase64: {
        encodeBase64: (bytes) => encode(toBase64(bytes, BASE64, true)),
        encodeBase64String: (bytes) => toBase64(bytes, BASE64, true),
        encodeBase64URLSafeString: (bytes) => toBase64(bytes, BASE64_URL, false),
        decodeBase64: decodedBase64,
      },
    };
  }
  function securityConstructors() {
    return {
      CodecBase64: () => object("CodecBase64", {}),
      SecretKeySpec: (bytes, algorithm) => (bytes.length === 0 ? fail("IllegalArgumentException", "Empty key") : object("SecretKeySpec", { bytes: [...bytes], algorithm })),
      HmacUtils(algorithm, key) {
        const name = algorithm.name ?? algorithm;
        macOf(name);
        return bytesOf(key).length === 0 ? fail("IllegalArgumentException", "Null key") : object("HmacUtils", { algorithm: name, key: bytesOf(key) });
      },
    };
  }

  // --- Formats of numbers ---------------------------------------------------------------------------------------------
  // The exact decimal value of a double.
  const exactly = (v) => {
    if (!Number.isFinite(v)) return unsupported("a format of this number");
    let [mantissa, scale] = [v, 0];
    while (mantissa !== Math.trunc(mantissa)) [mantissa, scale] = [mantissa * 2, scale + 1];
    return new BigDecimal(BigInt(mantissa) * 5n ** BigInt(scale), scale);
  };
  const decimalFormat = (pattern) => {
    const [, groups, integers, fractions] = /^([#,]*)([0,]*)(?:\.(0*#*))?$/.exec(pattern) ?? [];
    const whole = (groups ?? "") + (integers ?? "");
    if ((whole === "" && !fractions) || (whole.includes(",") && !/,[#0]{3}$/.test(whole))) unsupported(`the number format \`${pattern}\``);
    const decimals = fractions ?? "";
    return object("DecimalFormat", { grouped: whole.includes(","), least: integers.replace(/,/g, "").length, from: decimals.replace(/#/g, "").length, to: decimals.length });
  };
  const formatDecimal = (f, of) => {
    const exact = of instanceof Double ? exactly(of.v) : toDecimal(of);
    const at = setScale(exact, f.to, "HALF_EVEN");
    const isNegative = exact.u < 0n || (of instanceof Double && Object.is(of.v, -0));
    const all = String(at.u < 0n ? -at.u : at.u).padStart(f.to + 1, "0");
    let [whole, decimals] = [all.slice(0, all.length - f.to), all.slice(all.length - f.to)];
    while (decimals.length > f.from && decimals.endsWith("0")) decimals = decimals.slice(0, -1);
    whole = whole.replace(/^0+/, "").padStart(f.least, "0");
    // A number always has a digit.
    if (whole === "" && decimals === "") whole = "0";
    if (f.grouped) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return `${isNegative ? "-" : ""}${whole}${decimals === "" ? "" : `.${decimals}`}`;
  };

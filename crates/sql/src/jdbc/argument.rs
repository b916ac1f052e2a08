//! Parameters of statements, as `setInt`, `setString` and the like take them.

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// `setNull` of a kind.
    Null(ArgumentKind),
    /// `setInt`.
    Int(i32),
    /// `setLong`.
    Long(i64),
    /// `setShort` and `setByte`.
    Short(i16),
    /// `setFloat`.
    Float(f32),
    /// `setDouble`.
    Double(f64),
    /// `setBigDecimal`: the digits as they were written.
    Decimal(String),
    /// `setBoolean`.
    Bool(bool),
    /// `setString`.
    Text(String),
    /// `setDate`: `2026-11-24`.
    Date(String),
    /// `setTime`: `17:05:00`.
    Time(String),
    /// `setTimestamp`: `2026-11-24 17:05:00.5`.
    Timestamp(String),
    /// `setBytes`.
    Bytes(Vec<u8>),
}

/// The kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentKind {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// 16 bits.
    Short,
    /// 32 bits, floating.
    Float,
    /// 64 bits, floating.
    Double,
    /// Decimal.
    Decimal,
    /// True or false.
    Bool,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Text whose type the server chooses.
    Open,
}

impl Argument {
    /// Its kind.
    pub fn kind(&self) -> ArgumentKind {
        match self {
            Self::Null(kind) => *kind,
            Self::Int(_) => ArgumentKind::Int,
            Self::Long(_) => ArgumentKind::Long,
            Self::Short(_) => ArgumentKind::Short,
            Self::Float(_) => ArgumentKind::Float,
            Self::Double(_) => ArgumentKind::Double,
            Self::Decimal(_) => ArgumentKind::Decimal,
            Self::Bool(_) => ArgumentKind::Bool,
            Self::Text(_) => ArgumentKind::Text,
            Self::Date(_) | Self::Time(_) | Self::Timestamp(_) => ArgumentKind::Open,
            Self::Bytes(_) => ArgumentKind::Bytes,
        }
    }
}

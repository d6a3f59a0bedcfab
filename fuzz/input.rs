//! Reads values from the bytes of an input. After the end, all values are 0.

pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }

    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or_default()
    }

    pub fn u16(&mut self) -> u16 {
        self.u64_of(2) as u16
    }

    pub fn u64(&mut self) -> u64 {
        self.u64_of(8)
    }

    fn u64_of(&mut self, count: usize) -> u64 {
        self.bytes(count).iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Bytes whose number is in the byte before them.
    pub fn short_bytes(&mut self) -> &'a [u8] {
        let count = self.u8();
        self.bytes(count.into())
    }

    /// One of several values.
    pub fn choose<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::from(self.u8()) % values.len()]
    }
}

//! Which cell a figure is of: `key=value` pairs, such as `workload=… workers=16 batch=768`.

/// A parsed selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    pairs: Vec<(String, String)>,
}

impl Selector {
    /// Parses `text`; `Err` holds the word that is not a pair.
    pub fn parse(text: &str) -> Result<Selector, String> {
        let pair = |word: &str| match word.split_once('=') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok((key.to_owned(), value.to_owned()))
            }
            _ => Err(word.to_owned()),
        };
        let pairs = text
            .split_whitespace()
            .map(pair)
            .collect::<Result<_, _>>()?;
        Ok(Selector { pairs })
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// A sentence when it is missing.
    pub fn text(&self, key: &str) -> Result<&str, String> {
        self.optional(key)
            .ok_or_else(|| format!("the selector lacks `{key}`"))
    }

    /// The value of `key`, if it is there.
    pub fn optional(&self, key: &str) -> Option<&str> {
        (self.pairs.iter())
            .find(|(k, _)| k == key)
            .map(|(_, value)| value.as_str())
    }

    /// The value of `key` as a number.
    ///
    /// # Errors
    /// A sentence when it is missing or no number.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, String> {
        let text = self.text(key)?;
        text.parse()
            .map_err(|_| format!("`{key}={text}` in the selector is not a number"))
    }

    /// The value of `key` as a list of numbers, if it is there.
    ///
    /// # Errors
    /// A sentence when an entry is no number.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<u32>>, String> {
        let Some(text) = self.optional(key) else {
            return Ok(None);
        };
        let number = |word: &str| {
            word.parse()
                .map_err(|_| format!("`{word}` in `{key}={text}` of the selector is not a number"))
        };
        text.split(',')
            .map(number)
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

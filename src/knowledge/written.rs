//! Types that files contain as text: how serde reads and writes them, and their description in the schema.

/// Reads and writes a type as text, with its `FromStr` and `Display`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;

                impl serde::de::Visitor<'_> for Reader {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a string")
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Reader)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

/// Implements serde and the schema for a type that is written as text.
macro_rules! written_as_text {
    ($type:ty, $name:literal, $description:literal) => {
        $crate::knowledge::written::serde_as_text!($type);

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": $description,
                    "type": "string",
                    "minLength": 1
                })
            }
        }
    };
}

pub(super) use {serde_as_text, written_as_text};

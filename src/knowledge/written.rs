//! Types that files contain as text: how serde reads and writes them, and their description in the schema.

/// Reads and writes a type as text, with its `FromStr` and `Display`.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
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

//! Types that files write as one text: how serde writes them, and what the schema says of them.

/// Writes a type as text and describes it in the schema. What a text has to be, `TryFrom<String>` says.
macro_rules! written_as_text {
    ($type:ty, $text:expr, $name:literal, $description:literal) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                let text: fn($type) -> Self = $text;
                text(value)
            }
        }

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

pub(super) use written_as_text;

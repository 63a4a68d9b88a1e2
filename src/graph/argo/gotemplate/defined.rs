//! The functions of templates that Argo CD defines.

use super::functions;

/// The functions that are not evaluated: those of Go (text/template), of sprig (v3 functions.go, genericMap) and of Argo CD
/// (argo-cd applicationset/utils/utils.go), separated by spaces.
const UNEVALUATED: &str = "\
abbrev abbrevboth add1f addf adler32sum ago b32dec b32enc b64dec b64enc bcrypt biggest \
buildCustomCert call camelcase ceil chunk clean date dateInZone dateModify date_in_zone \
date_modify decryptAES deepCopy deepEqual derivePassword divf duration durationRound \
encryptAES env expandenv ext float64 floor fromJson fromYaml fromYamlArray genCA \
genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert \
genSignedCertWithKey getHostByName hello html htmlDate htmlDateInZone htpasswd initials \
isAbs js kebabcase keys maxf merge mergeOverwrite minf mulf mustAppend mustChunk mustCompact \
mustDateModify mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustMerge \
mustMergeOverwrite mustPrepend mustRegexFind mustRegexFindAll mustRegexMatch \
mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse mustSlice \
mustToDate mustToDuration mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout \
must_date_modify now osBase osClean osDir osExt osIsAbs pluck plural println randAlpha \
randAlphaNum randAscii randBytes randInt randNumeric regexFindAll regexQuoteMeta regexSplit \
round semver semverCompare seq set sha1sum sha256sum sha512sum shuffle slice slugify \
snakecase splitn subf swapcase title toDate toDecimal toDuration toPrettyJson toStrings \
trimall typeIs typeIsLike typeOf unixEpoch unset untilStep untitle urlJoin urlParse urlquery \
uuidv4 values wrap wrapWith";

/// Whether a template may call a function. Templates with other functions cannot be parsed.
pub(super) fn is_defined(name: &str) -> bool {
    functions::is_known(name)
        || UNEVALUATED
            .split_ascii_whitespace()
            .any(|known| known == name)
}

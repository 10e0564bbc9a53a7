"""Find secrets: tokens, keys and passwords that a request contains by mistake.

The policy `secrets` of its project decides whether such a write is refused, warned about or let through.

Almost no request has a secret, so the first look is cheap: nearly every secret has RUN_CHARS token characters without
a break, which are neither words nor only hexadecimal digits, and a sentence has not. Only a request that passes it is
matched against the formats: first against the literals of each, then against the patterns of those whose literal is
there. What a pattern matches is no secret if it is too regular to be random, such as a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path

RUN_CHARS = 20
_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TOKEN_MAP = bytes(ord("x") if byte in _TOKEN_BYTES else ord(" ") for byte in range(256))
_RUN = b"x" * RUN_CHARS
_WORD_BYTES = b"abcdefghijklmnopqrstuvwxyz_-"
_HEX_BYTES = b"0123456789abcdef-"
# Hexadecimal digits are a hash or a UUID, unless they follow a part of a secret or the name of a setting.
_JOINTS = frozenset(b".:=~")
_NAMES_OF_HEX = (b"_KEY", b"_TOKEN", b"_token", b"key_id")


class SecretMatch(msgspec.Struct, frozen=True):
    """The argument with a secret, and the kind of the secret. The secret itself is not kept."""

    path: ArgumentPath
    kind: str


def find_secrets(request: Any) -> list[SecretMatch]:
    """Return the secrets in a parsed request; each kind is returned once per argument."""
    encoded = msgspec.json.encode(request)
    if not _may_have_secret(encoded):
        return []
    matches: list[SecretMatch] = []
    _collect(msgspec.to_builtins(request, str_keys=True), (), matches)
    return matches


def find_kinds(text: str) -> list[str]:
    """Return the kinds of the secrets in a text."""
    if not _may_have_secret(text.encode("utf-8", "surrogatepass")):
        return []
    kinds = [
        secret.kind
        for secret in find_likely_formats(text)
        if any(not is_placeholder(match[1]) for match in secret.regex.finditer(text))
    ]
    return list(dict.fromkeys(kinds))


def _may_have_secret(encoded: bytes) -> bool:
    """Return False if no format of secrets can match."""
    return (
        _has_random_run(encoded)
        # These may be short, or have other characters in between. A single character is found ten times as fast.
        or (b"@" in encoded and b"://" in encoded)
        or (b"~" in encoded and b"Q~" in encoded)
        or b"-----BEGIN " in encoded
    )


def _has_random_run(encoded: bytes) -> bool:
    mapped = encoded.translate(_TOKEN_MAP)
    begin = mapped.find(_RUN)
    has_names = begin >= 0 and any(name in encoded for name in _NAMES_OF_HEX)
    while begin >= 0:
        end = mapped.find(b" ", begin)
        run = encoded[begin:] if end < 0 else encoded[begin:end]
        if not run.translate(None, _HEX_BYTES):
            is_random = has_names or encoded[begin - 1] in _JOINTS
        else:  # a name such as `test_a_cycle_is_refused` has only the characters of words
            is_random = bool(run.translate(None, _WORD_BYTES)) or b"secret" in run
        if is_random:
            return True
        begin = -1 if end < 0 else mapped.find(_RUN, end)
    return False


def _hide_secrets(path: ArgumentPath) -> ArgumentPath:
    """Return a path in which names that are secrets themselves are masked."""
    return tuple("…" if isinstance(step, str) and find_kinds(step) else step for step in path)


def _collect(value: Any, path: ArgumentPath, matches: list[SecretMatch]) -> None:
    """Add the secrets in a value. The names in an object are searched, too."""
    if isinstance(value, str):
        # Only a password in a URL may be shorter.
        if len(value) >= RUN_CHARS or "@" in value:
            matches += [SecretMatch(_hide_secrets(path), kind) for kind in find_kinds(value)]
    elif isinstance(value, dict):
        for name, member in value.items():
            if len(name) >= RUN_CHARS:
                _collect(name, path, matches)
            _collect(member, (*path, name), matches)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect(item, (*path, index), matches)


# --- What happens to a write with a secret ----------------------------------------------------------------------------

SECRETS_POLICY = "secrets"
OFF, WARN, REFUSE = "off", "warn", "refuse"
NAMED_MAX = 3  # fields in a warning; an error lists more
LISTED_MAX = 20
ADVICE = "write where it is kept instead of the secret itself"


class SecretFound(RuleViolated):
    """The request contains a text that looks like a secret, and the project refuses secrets."""

    code = "secret_found"

    def __init__(self, matches: Sequence[SecretMatch]) -> None:
        super().__init__(
            f"looks like a secret: {_format_matches(matches)}; nothing was written. {ADVICE.capitalize()}, "
            f"or ask an owner to set the policy {SECRETS_POLICY} to {WARN}",
            fields=[{"field": format_argument_path(match.path), "kind": match.kind} for match in matches[:LISTED_MAX]],
            policy={SECRETS_POLICY: REFUSE},
        )


def check_secrets(tx: Transaction, request: Any, matches: Sequence[SecretMatch]) -> list[str]:
    """Return the warnings about the secrets in a request: at most one line, and none if the project ignores secrets."""
    if not matches:
        return []
    policy = _get_policy(tx, request)
    if policy == OFF:
        return []
    if policy == REFUSE:
        raise SecretFound(matches)
    return [
        f"looks like a secret: {_format_matches(matches)}; it is stored and stays in the history, "
        f"so revoke it if it is real, and {ADVICE}"
    ]


def _get_policy(tx: Transaction, request: Any) -> str:
    if tx.has_project:
        policies = msgspec.json.decode(tx.project.policies)
    else:  # a request that creates a project is held to the policies that it sets
        policies = msgspec.to_builtins(getattr(request, "policies", None)) or {}
    return str(policies.get(SECRETS_POLICY, WARN))


def _format_matches(matches: Sequence[SecretMatch]) -> str:
    named = [f"{format_argument_path(match.path)} ({match.kind})" for match in matches[:NAMED_MAX]]
    more = f" and {len(matches) - NAMED_MAX} more" if len(matches) > NAMED_MAX else ""
    return ", ".join(named) + more


# --- Random text, and placeholders such as `ghp_xxxxxxxx` or `AKIAIOSFODNN7EXAMPLE` -----------------------------------

DISTINCT_CHARS_MIN = 8
LONG_CHARS = 16  # shorter text, such as a password, may repeat itself
# In random text of 64 hexadecimal digits a run of 6 has a probability of 1 : 17,000.
REPEATED_CHARS_MAX = 5
SEQUENCE_CHARS_MAX = 5  # of characters that follow each other: `abcdef`, `123456`
PERIOD_CHARS = 8

PLACEHOLDER_WORDS = ("example", "placeholder", "redacted", "changeme", "dummy", "your", "xxxx", "....", "****", "fake")
# Passwords that stand for one, in documentation and on a developer's machine.
PASSWORD_WORDS = frozenset(
    {
        "password",
        "passwd",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "user",
        "username",
        "key",
        "postgres",
        "root",
        "admin",
    }
)
TEMPLATE_STARTS = ("$", "{", "<", "[", "%", "*")
HEX_DIGITS = frozenset("0123456789abcdef-")


def is_placeholder(text: str) -> bool:
    """Return True if a text is too regular to be a secret."""
    folded = text.casefold()
    if any(word in folded for word in PLACEHOLDER_WORDS):
        return True
    if len(text) < LONG_CHARS:
        return folded in PASSWORD_WORDS or text.startswith(TEMPLATE_STARTS)
    return (
        len(set(text)) < DISTINCT_CHARS_MIN
        or _is_made_of_words(text)
        or text[:PERIOD_CHARS] in text[PERIOD_CHARS:]
        or _find_longest_run(text, 0) > REPEATED_CHARS_MAX
        or _find_longest_run(text, 1) > SEQUENCE_CHARS_MAX
    )


def _is_made_of_words(text: str) -> bool:
    """Return True if a text looks like an identifier: in lower case, and with separators or without digits."""
    is_separated = "_" in text or "-" in text or not any(map(str.isdigit, text))
    return text.islower() and is_separated and not HEX_DIGITS.issuperset(text)


def _find_longest_run(text: str, step: int) -> int:
    """Return the length of the longest run of characters whose codes differ by `step` from one to the next."""
    longest = run = 1
    for before, after in pairwise(text):
        run = run + 1 if ord(after) - ord(before) == step else 1
        longest = max(longest, run)
    return longest


# --- The formats, one row each ----------------------------------------------------------------------------------------

# Every secret of a format has one of its literals. Every pattern is linear: character classes with bounded repeats,
# tried only where a token begins. The first group of a pattern is the random part.

# A secret is a word of its own, so that it is not found inside a longer one.
_BEGIN, _END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
_IS = r"""["']?\s{0,3}[:=]\s{0,3}["']?"""  # between the name of a setting and its value

# This machine, and the names that are reserved for documentation.
_NO_REAL_HOST = (
    r"(?:127\.|\[::1\]|(?:[A-Za-z0-9-]{1,63}\.){0,4}(?:localhost|example|test|invalid)(?:\.(?:com|org|net))?"
    r"(?![A-Za-z0-9.-]))"
)

HEX = "[0-9a-f]"
ALNUM = "[A-Za-z0-9]"
URL_SAFE = "[A-Za-z0-9_-]"  # base64url
BASE64 = "[A-Za-z0-9+/]"
UUID = f"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}"


@dataclass(frozen=True)
class SecretFormat:
    """A format of secrets: its name, a literal that its texts contain, and its pattern."""

    kind: str
    literals: tuple[str, ...]
    pattern: str

    @cached_property  # compiled on first use: most processes never meet a literal
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


def _with_prefix(kind: str, prefixes: str, body: str) -> SecretFormat:
    """Return a format of secrets that begin with one of the prefixes, given in a text with blanks between them."""
    literals = tuple(prefixes.split())
    words = "|".join(map(re.escape, literals))
    return SecretFormat(kind, literals, f"{_BEGIN}(?:{words})({body}){_END}")


def _with_name(kind: str, names: str, body: str) -> SecretFormat:
    """Return a format of secrets that have no prefix and are recognized by the name of their setting."""
    literals = tuple(names.split())
    words = "|".join(map(re.escape, literals))
    return SecretFormat(kind, literals, f"(?:{words}){_IS}({body}){_END}")


FORMATS: tuple[SecretFormat, ...] = (
    # Clouds and hosting
    _with_prefix("AWS access key", "AKIA ASIA ABIA ACCA", "[A-Z2-7]{16}"),
    _with_name(
        "AWS secret access key", "aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey", f"{BASE64}{{40}}"
    ),
    _with_prefix("Google API key", "AIza", f"{URL_SAFE}{{35}}"),
    _with_prefix("Google OAuth client secret", "GOCSPX-", f"{URL_SAFE}{{28}}"),
    _with_prefix("Google access token", "ya29.", f"{URL_SAFE}{{30,500}}"),
    _with_name("Google service account key", "private_key_id", f"{HEX}{{40}}"),
    SecretFormat("Azure storage key", ("AccountKey=",), rf"AccountKey=({BASE64}{{86}})=="),
    SecretFormat("Azure shared access key", ("SharedAccessKey=",), rf"SharedAccessKey=({BASE64}{{43}})="),
    SecretFormat(
        "Azure client secret", ("Q~",), r"(?<![A-Za-z0-9_.~-])([A-Za-z0-9_.~]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34})" + _END
    ),
    _with_prefix("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", f"{HEX}{{64}}"),
    _with_prefix("Heroku API key", "HRKU-", f"{URL_SAFE}{{36,65}}"),
    _with_name("Heroku API key", "HEROKU_API_KEY", UUID),
    _with_prefix("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", f"{ALNUM}{{36}}"),
    _with_name("Vercel token", "VERCEL_TOKEN VERCEL_API_TOKEN NOW_TOKEN", f"{ALNUM}{{24}}"),
    _with_name(
        "Cloudflare token",
        "CLOUDFLARE_API_TOKEN CLOUDFLARE_API_KEY CF_API_TOKEN CF_API_KEY",
        f"(?:{URL_SAFE}{{40}}|{HEX}{{37}})",
    ),
    _with_prefix("Cloudflare origin CA key", "v1.0-", f"{HEX}{{24}}-{HEX}{{146}}"),
    _with_prefix("Supabase key", "sbp_", f"{HEX}{{40}}"),
    _with_prefix("Supabase key", "sb_secret_", f"{URL_SAFE}{{22}}_{URL_SAFE}{{8}}"),
    _with_prefix("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.=-]{32,64}"),
    _with_prefix("Databricks token", "dapi", f"{HEX}{{32}}(?:-[0-9])?"),
    _with_prefix("Tailscale key", "tskey-auth- tskey-api- tskey-client-", f"{ALNUM}{{10,20}}-{ALNUM}{{20,40}}"),
    _with_prefix("Pulumi token", "pul-", f"{HEX}{{40}}"),
    SecretFormat(
        "Terraform Cloud token",
        (".atlasv1.",),
        rf"{_BEGIN}{ALNUM}{{14}}\.atlasv1\.({URL_SAFE}{{60,70}}){_END}",
    ),
    _with_prefix("HashiCorp Vault token", "hvs. hvb. hvr.", f"{URL_SAFE}{{24,300}}"),
    _with_prefix(
        "Doppler token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        rf"(?:[a-z0-9_-]{{2,35}}\.)?{ALNUM}{{40,44}}",
    ),
    # Code and packages
    _with_prefix("GitHub personal access token", "ghp_", f"{ALNUM}{{36}}"),
    _with_prefix("GitHub fine-grained token", "github_pat_", f"{ALNUM}{{22}}_{ALNUM}{{59}}"),
    _with_prefix("GitHub OAuth token", "gho_", f"{ALNUM}{{36}}"),
    _with_prefix("GitHub app token", "ghu_ ghs_", f"{ALNUM}{{36}}"),
    _with_prefix("GitHub refresh token", "ghr_", f"{ALNUM}{{36,76}}"),
    _with_prefix(
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-",
        rf"{URL_SAFE}{{20,64}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
    ),
    _with_prefix("Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{60,300}"),
    _with_prefix("Bitbucket app password", "ATBB", f"{ALNUM}{{32}}"),
    _with_prefix("npm token", "npm_", f"{ALNUM}{{36}}"),
    _with_prefix("PyPI token", "pypi-", f"AgE{URL_SAFE}{{60,500}}"),
    _with_prefix("RubyGems key", "rubygems_", f"{HEX}{{48}}"),
    _with_prefix("Docker Hub token", "dckr_pat_ dckr_oat_", f"{URL_SAFE}{{27,36}}"),
    _with_prefix("CircleCI token", "CCIPAT_", f"{ALNUM}{{20,30}}_{HEX}{{40}}"),
    _with_prefix("SonarQube token", "sqp_ squ_ sqa_", f"{HEX}{{40}}"),
    _with_prefix("Postman key", "PMAK-", f"{HEX}{{24}}-{HEX}{{34}}"),
    # Models
    _with_prefix("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", f"{URL_SAFE}{{40,200}}"),
    SecretFormat(
        "OpenAI key", ("T3BlbkFJ",), rf"{_BEGIN}sk-(?:[a-z]{{3,9}}-)?({ALNUM}{{20}}T3BlbkFJ{ALNUM}{{20}}){_END}"
    ),
    _with_prefix("Anthropic key", "sk-ant-", rf"(?:api|admin|oat|ort|sid)[0-9]{{2}}-{URL_SAFE}{{60,140}}"),
    _with_prefix("Hugging Face token", "hf_ api_org_", f"{ALNUM}{{34}}"),
    _with_prefix("Replicate token", "r8_", f"{ALNUM}{{37}}"),
    _with_prefix("Groq key", "gsk_", f"{ALNUM}{{52}}"),
    _with_prefix("Perplexity key", "pplx-", f"{ALNUM}{{48}}"),
    # Messages
    _with_prefix("Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.", "[A-Za-z0-9.-]{20,250}"),
    _with_prefix("Slack app token", "xapp-", f"[0-9]-{ALNUM}{{8,12}}-[0-9]{{10,13}}-{ALNUM}{{32,80}}"),
    SecretFormat(
        "Slack webhook",
        ("hooks.slack.com/",),
        rf"hooks\.slack\.com/(?:services|workflows)/T{ALNUM}{{8,12}}/B?{ALNUM}{{8,20}}/({ALNUM}{{20,32}}){_END}",
    ),
    SecretFormat(
        "Discord webhook",
        ("/api/webhooks/",),
        rf"discord(?:app)?\.com/api/webhooks/[0-9]{{17,20}}/({URL_SAFE}{{60,80}}){_END}",
    ),
    _with_name(
        "Discord bot token",
        "DISCORD_TOKEN DISCORD_BOT_TOKEN",
        rf"[MNO]{ALNUM}{{23,27}}\.{URL_SAFE}{{6}}\.{URL_SAFE}{{27,38}}",
    ),
    SecretFormat("Telegram bot token", (":AA",), rf"(?<![0-9A-Za-z])[0-9]{{8,10}}:(AA{URL_SAFE}{{33}}){_END}"),
    _with_prefix("Twilio key", "SK", f"{HEX}{{32}}"),
    _with_name("Twilio auth token", "TWILIO_AUTH_TOKEN twilio_auth_token", f"{HEX}{{32}}"),
    _with_prefix("SendGrid key", "SG.", rf"{URL_SAFE}{{22}}\.{URL_SAFE}{{43}}"),
    _with_prefix("Mailgun key", "key-", f"{HEX}{{32}}"),
    SecretFormat("Mailchimp key", ("-us",), rf"{_BEGIN}({HEX}{{32}})-us[0-9]{{1,2}}{_END}"),
    _with_prefix("Brevo key", "xkeysib-", f"{HEX}{{64}}-{ALNUM}{{16}}"),
    # Payments and shops
    _with_prefix("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", f"{ALNUM}{{24,247}}"),
    SecretFormat("Stripe webhook secret", ("whsec_",), rf"{_BEGIN}whsec_({BASE64}{{32,64}})={{0,2}}{_END}"),
    _with_prefix("Square token", "sq0atp- sq0csp- sq0idp-", f"{URL_SAFE}{{22,43}}"),
    _with_prefix("Square token", "EAAA", f"{URL_SAFE}{{60}}"),
    SecretFormat(
        "PayPal access token",
        ("access_token$",),
        rf"access_token\$(?:production|sandbox)\$([0-9a-z]{{16}}\${HEX}{{32}}){_END}",
    ),
    _with_prefix("Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    # Monitoring
    _with_name(
        "Datadog key",
        "DD_API_KEY DD_APP_KEY DATADOG_API_KEY DATADOG_APP_KEY",
        f"(?:{HEX}{{40}}|{HEX}{{32}})",
    ),
    _with_prefix("New Relic key", "NRAK- NRAA- NRRA- NRIQ-", "[A-Z0-9]{27}"),
    SecretFormat("New Relic license key", ("NRAL",), rf"{_BEGIN}({HEX}{{32,40}})(?:FFFF)?NRAL{_END}"),
    _with_prefix("Sentry token", "sntrys_", "[A-Za-z0-9+/=_-]{60,400}"),
    _with_prefix("Sentry token", "sntryu_", f"{HEX}{{64}}"),
    _with_prefix("Grafana token", "glsa_", f"{ALNUM}{{32}}_{HEX}{{8}}"),
    _with_prefix("Grafana Cloud token", "glc_", f"eyJ{BASE64}{{40,400}}={{0,2}}"),
    # Notes, tasks and files
    _with_prefix("Linear key", "lin_api_ lin_oauth_", f"{ALNUM}{{40,64}}"),
    _with_prefix("Notion token", "secret_", f"{ALNUM}{{43}}"),
    _with_prefix("Notion token", "ntn_", f"{ALNUM}{{40,50}}"),
    _with_prefix("Airtable token", "pat", rf"{ALNUM}{{14}}\.{HEX}{{64}}"),
    SecretFormat(
        "Asana token", ("/1",), rf"(?<![0-9A-Za-z/])[0-2]/[0-9]{{15,17}}(?:/[0-9]{{15,17}})?:({HEX}{{32}}){_END}"
    ),
    _with_prefix("Dropbox token", "sl.", rf"(?:u\.)?{URL_SAFE}{{120,1000}}"),
    _with_prefix("Figma token", "figd_ figo_ figu_", f"{URL_SAFE}{{40,60}}"),
    _with_prefix(
        "HubSpot token", "pat-na1- pat-na2- pat-eu1-", f"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}"
    ),
    _with_prefix("Contentful token", "CFPAT-", f"{URL_SAFE}{{43}}"),
    _with_prefix("Typeform token", "tfp_", "[A-Za-z0-9_.=-]{40,60}"),
    # Of no service in particular
    SecretFormat(
        "private key",
        ("-----BEGIN ",),
        r"-----BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|\s){0,4}"
        rf"(?:[A-Za-z-]{{2,30}}: [^\n]{{1,80}}\n){{0,5}}\s{{0,2}}({BASE64}{{32}})",
    ),
    _with_prefix("age secret key", "AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    SecretFormat(
        "JSON Web Token",
        ("eyJ",),
        rf"(?<![A-Za-z0-9_.-])eyJ{URL_SAFE}{{10,1000}}\.eyJ{URL_SAFE}{{10,4000}}\.({URL_SAFE}{{20,1000}}){_END}",
    ),
    SecretFormat(
        "password in a URL",
        ("://",),
        r"""(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@"'<>]{0,64}:([^\s:/@"'<>]{3,128})"""
        rf"@(?!{_NO_REAL_HOST})[A-Za-z0-9\[]",
    ),
    _with_prefix("Groundplan token", "gpt_", f"{URL_SAFE}{{24,200}}"),
)

_MARKS = ("_", "-", ".")  # all but a few literals have one of them, and most texts have few of them


def _group_literals() -> dict[str, list[tuple[str, SecretFormat]]]:
    groups: dict[str, list[tuple[str, SecretFormat]]] = {mark: [] for mark in ("", *_MARKS)}
    for secret in FORMATS:
        for literal in secret.literals:
            groups[next((mark for mark in _MARKS if mark in literal), "")].append((literal, secret))
    return groups


_LITERALS = _group_literals()


def find_likely_formats(text: str) -> list[SecretFormat]:
    """Return the formats whose literal occurs in the text."""
    groups = (literals for mark, literals in _LITERALS.items() if mark in text)
    return [secret for literals in groups for literal, secret in literals if literal in text]

"""The formats of secrets, one row each.

A format has literals, of which one is in every secret of the format, and a pattern. A text without the literal is never
matched against the pattern. Every pattern is linear: character classes with bounded repeats, tried only where a token
begins. The first group of a pattern is the random part, which `placeholders.py` checks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

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
    """One format: what it is called, a literal to look for, and its pattern."""

    kind: str
    literals: tuple[str, ...]
    pattern: str

    @cached_property  # compiled on first use: most processes never meet a literal
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


def _with_prefix(kind: str, prefixes: str, body: str) -> SecretFormat:
    """Return a format whose secrets begin with one of the prefixes, which are separated by blanks."""
    literals = tuple(prefixes.split())
    words = "|".join(map(re.escape, literals))
    return SecretFormat(kind, literals, f"{_BEGIN}(?:{words})({body}){_END}")


def _with_name(kind: str, names: str, body: str) -> SecretFormat:
    """Return a format without a prefix of its own, which is known by the setting that it is the value of."""
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
    for one in FORMATS:
        for literal in one.literals:
            groups[next((mark for mark in _MARKS if mark in literal), "")].append((literal, one))
    return groups


_LITERALS = _group_literals()


def find_likely_formats(text: str) -> list[SecretFormat]:
    """Return the formats that have a literal in the text."""
    return [one for mark, literals in _LITERALS.items() if mark in text for literal, one in literals if literal in text]

"""Secrets that are made up at run time: no file of the repository has a text that looks like one.

A recipe is text with parts in braces: `{a36}` is 36 random letters and digits. The prefixes of well-known services are
cut in two (`gh|p_`), because scanners of other programs would stop at them.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping

ALPHABETS: Mapping[str, str] = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "h": string.digits + "abcdef",
    "k": string.ascii_uppercase + "234567",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_letters + string.digits + "_-",
    "U": string.ascii_uppercase + string.digits,
}
_PART = re.compile(r"\{(\w)(\d+)\}")

# By kind, in the order of the formats; a kind with several shapes has several recipes.
RECIPES: Mapping[str, tuple[str, ...]] = {
    "AWS access key": ("AK|IA{k16}", "AS|IA{k16}"),
    "AWS secret access key": ("aws_secret_|access_key = {b40}", 'AWS_SECRET_|ACCESS_KEY="{b40}"'),
    "Google API key": ("AI|za{u35}",),
    "Google OAuth client secret": ("GOC|SPX-{u28}",),
    "Google access token": ("ya|29.{u60}",),
    "Google service account key": ('"private_|key_id": "{h40}"',),
    "Azure storage key": ("DefaultEndpointsProtocol=https;Account|Key={b86}==;EndpointSuffix=core.windows.net",),
    "Azure shared access key": ("SharedAccessKeyName=RootManageSharedAccessKey;SharedAccess|Key={b43}=",),
    "Azure client secret": ("{a3}8Q|~{a34}",),
    "DigitalOcean token": ("dop|_v1_{h64}",),
    "Heroku API key": ("HR|KU-{u60}", "HEROKU_|API_KEY={h8}-{h4}-{h4}-{h4}-{h12}"),
    "Netlify token": ("nf|p_{a36}",),
    "Vercel token": ("VERCEL_|TOKEN={a24}",),
    "Cloudflare token": ("CLOUDFLARE_|API_TOKEN: {u40}", "CF_|API_KEY={h37}"),
    "Cloudflare origin CA key": ("v1.|0-{h24}-{h146}",),
    "Supabase key": ("sb|p_{h40}", "sb_|secret_{a22}_{a8}"),
    "PlanetScale token": ("pscale_|tkn_{u43}", "pscale_|pw_{u43}"),
    "Databricks token": ("da|pi{h32}", "da|pi{h32}-2"),
    "Tailscale key": ("tskey-|auth-{a12}-{a32}",),
    "Pulumi token": ("pu|l-{h40}",),
    "Terraform Cloud token": ("{a14}.atlas|v1.{u67}",),
    "HashiCorp Vault token": ("hv|s.{u90}",),
    "Doppler token": ("dp.|pt.{a43}", "dp.|st.dev.{a40}"),
    "GitHub personal access token": ("gh|p_{a36}",),
    "GitHub fine-grained token": ("github_|pat_{a22}_{a59}",),
    "GitHub OAuth token": ("gh|o_{a36}",),
    "GitHub app token": ("gh|u_{a36}", "gh|s_{a36}"),
    "GitHub refresh token": ("gh|r_{a76}",),
    "GitLab token": ("gl|pat-{u20}", "gl|rt-{u20}", "gl|pat-{u27}.01.{l9}"),
    "Atlassian token": ("ATA|TT3{u180}={h8}",),
    "Bitbucket app password": ("AT|BB{a32}",),
    "npm token": ("np|m_{a36}",),
    "PyPI token": ("py|pi-AgEIcHlwaS5vcmc{u120}",),
    "RubyGems key": ("ruby|gems_{h48}",),
    "Docker Hub token": ("dckr_|pat_{u27}",),
    "CircleCI token": ("CCI|PAT_{a22}_{h40}",),
    "SonarQube token": ("sq|p_{h40}",),
    "Postman key": ("PM|AK-{h24}-{h34}",),
    "OpenAI key": ("sk|-proj-{u156}", "sk|-{a20}T3Blbk|FJ{a20}"),
    "Anthropic key": ("sk|-ant-api03-{u93}AA",),
    "Hugging Face token": ("h|f_{a34}",),
    "Replicate token": ("r|8_{a37}",),
    "Groq key": ("gs|k_{a52}",),
    "Perplexity key": ("pp|lx-{a48}",),
    "Slack token": ("xo|xb-{d12}-{d13}-{a24}", "xo|xp-{d12}-{d12}-{d13}-{h32}"),
    "Slack app token": ("xa|pp-1-A{U10}-{d13}-{h64}",),
    "Slack webhook": ("https://hooks.slack|.com/services/T{U8}/B{U10}/{a24}",),
    "Discord webhook": ("https://discord.com/api/web|hooks/{d18}/{u68}",),
    "Discord bot token": ("DISCORD_|TOKEN=M{a25}.{a6}.{u38}",),
    "Telegram bot token": ("{d10}:A|A{u33}",),
    "Twilio key": ("S|K{h32}",),
    "Twilio auth token": ("TWILIO_|AUTH_TOKEN={h32}",),
    "SendGrid key": ("S|G.{u22}.{u43}",),
    "Mailgun key": ("ke|y-{h32}",),
    "Mailchimp key": ("{h32}-u|s12",),
    "Brevo key": ("xkey|sib-{h64}-{a16}",),
    "Stripe key": ("sk_|live_{a24}", "rk_|live_{a99}", "sk_|test_{a24}"),
    "Stripe webhook secret": ("wh|sec_{a32}",),
    "Square token": ("sq0|atp-{u22}", "EA|AA{u60}"),
    "PayPal access token": ("access_|token$production${l16}${h32}",),
    "Shopify token": ("shp|at_{h32}",),
    "Datadog key": ("DD_|API_KEY={h32}", "DATADOG_|APP_KEY: '{h40}'"),
    "New Relic key": ("NR|AK-{U27}",),
    "New Relic license key": ("{h36}FFFFNR|AL",),
    "Sentry token": ("sn|trys_eyJ{b120}_{b43}", "sn|tryu_{h64}"),
    "Grafana token": ("gl|sa_{a32}_{h8}",),
    "Grafana Cloud token": ("gl|c_eyJ{b100}==",),
    "Linear key": ("lin_|api_{a40}",),
    "Notion token": ("secr|et_{a43}", "nt|n_{a46}"),
    "Airtable token": ("pa|t{a14}.{h64}",),
    "Asana token": ("2/1{d15}/1{d15}|:{h32}",),
    "Dropbox token": ("sl|.u.{u140}",),
    "Figma token": ("fig|d_{u40}",),
    "HubSpot token": ("pat-|na1-{h8}-{h4}-{h4}-{h4}-{h12}",),
    "Contentful token": ("CF|PAT-{u43}",),
    "Typeform token": ("tf|p_{u44}",),
    "private key": (
        "-----BEGIN RSA PRIVATE| KEY-----\n{b64}\n{b64}\n-----END",
        "-----BEGIN PRIVATE| KEY-----\\n{b64}\\n{b64}",
        "-----BEGIN EC PRIVATE| KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{h32}\n\n{b64}\n",
        "-----BEGIN OPENSSH PRIVATE| KEY-----\r\n{b64}\r\n",
    ),
    "age secret key": ("AGE-SECRET|-KEY-1{U58}",),
    "JSON Web Token": ("ey|JhbGciOiJIUzI1NiJ9.ey|J{u60}.{u43}",),
    "password in a URL": ("postgresql://app:{a12}|@db.internal:5432/plan", "https://ci:{a20}|@git.acme.io/repo.git"),
    "Groundplan token": ("gp|t_{u32}",),
}


def make_secret(recipe: str, seed: object = 0) -> str:
    """Return a text of a recipe; another seed gives another text."""
    pick = random.Random(f"{recipe} {seed}")  # noqa: S311 - chance; these are no secrets
    made = _PART.sub(lambda part: "".join(pick.choices(ALPHABETS[part[1]], k=int(part[2]))), recipe)
    return made.replace("|", "")


def make_one(kind: str, seed: object = 0) -> str:
    """Return a secret of a kind."""
    return make_secret(RECIPES[kind][0], seed)

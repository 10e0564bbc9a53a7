"""Logins and access tokens of one OpenID Connect issuer.

    settings.py        which issuer, and which of its tokens count
    issuer_client.py   bounded HTTP, to the issuer alone
    provider.py        the issuer's endpoints and keys, kept for a while
    signed_tokens.py   the signature and the claims that every token needs
    id_token.py        who logged in
    access_token.py    who sends a request, and through which client (RFC 9068)
    login_flow.py      the code flow with PKCE

Nothing here writes to the store: `kernel/identities` decides who a verified identity is.
"""

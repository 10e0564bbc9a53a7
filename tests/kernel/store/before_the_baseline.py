"""The steps that a database of version 13 has recorded if it was created before there was a baseline."""

from __future__ import annotations

from groundplan.kernel.store.migrations import Dialect

NAMES = (
    "foundation",
    "work",
    "knowledge",
    "containers",
    "context",
    "purpose",
    "tokens",
    "links",
    "requests",
    "checked_files",
    "organizations",
    "imports",
    "order_keys",
)
# The checksum of each step.
CHECKSUMS = {
    Dialect.SQLITE: (
        "e83b36e77c6a50e9e390143c7353b51ab4ad665d9a029583874a8118585e3118",
        "ebff501e749e95c2e92575f730f4d427ae4a712d9383e2727e3667effd380044",
        "52dd9f2f10553865f4e47d27bfbfe621a931e3be934e02242af0929f8f75ee31",
        "098017aab27707e2bb5d0d69eb60b6995495a2fd0bac8225a9210efa88b70619",
        "9deb3d8bef3d0837a5ed90eec1494260dd87d37d449596ae86b09b30e7d5dc54",
        "f689a7010c2c7076a5bc740a3810e42dd816d96a6d181f089355f79e3db0d903",
        "f8891f54fc3e09b2b6a28c79489bbff4b8c88832bcd1f8b2cec24e7dfb133894",
        "130c49e2b11ceea0a80956ca8aa18e7e676cbff88acc945f467157a5d754550e",
        "981c8264270e2dbe46058e891ad5fa011545b5dcd62f2efbb50275b97dd8b60a",
        "41e83bd13ec205e26e2d21b8be8c914e727914bee3dbfccb2df055ae8cccc46e",
        "dc9c2cebf1a2396a2d243a4a5e6986f078ad6a92d7282971c8bc3801dd6c7a52",
        "fbb82a4e7a74607dc7755295d49a9d81a2cc36280b19f748202f47900a4ce200",
        "69b259a1ea076b7de4b6d8556eb7ec44f396241530c9071a4b7d0ffbb4fe1eb0",
    ),
    Dialect.POSTGRES: (
        "8bbfd4fe3a1105a83f2ed6185c22f52911ba0003ab0eb287372afaa0adc29d66",
        "c837d2e5c4276869a7472791d914f747d4d39f6013f09618e92caffc33fe01af",
        "aeb99fd51148769a37ab8d99321e0d067ac517fe0accfa0e6abc1a67a4178fc2",
        "07cccc7305573ddc76798a87f8092ff2c574329963d830538fae4bbd1915328c",
        "17e4d3af857047d038b77e69731fc04fb085be68b8ec99e3ba61f61d3ed2019f",
        "cd8a0c69e704259a801c321f2f3e944bc1bdeebe2ee0a2a53d254976a4c9bc90",
        "cf7fdf14779c4166868ddc17c9e9303126317d4ab121d2e3b4c4f4d1440b51ef",
        "6a1f64457e40488182af91888a42a649e364edebc5664a70bf9d1d7bff6e6629",
        "fd3a35d46f9e38b7cd17c58e9ac212b7e18a32d02ea71853b4f68a61004fe2c9",
        "7094f355d57590e234cf8f1e5f3f0aced385ec6b8ee360ea17a110acb1c3d7be",
        "3ec784a2af2bedf9f1085ece465b78db3fd6e674c32de3600446768f44d20e6e",
        "fc6997d43c8733f744d0078eaea3424efac9bba1b1661c412cdfb2f9a28c8e3a",
        "cea9dda1e9d957395a67501c13e531e15bbc9d67ec85ea81ad093a08f2ff600a",
    ),
}

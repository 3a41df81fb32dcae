//! Keys in tokens, through PKCS#11 (`spec/signers.md` §2).

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error as Pkcs11Error, RvError};
use cryptoki::mechanism::dsa::{HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{
    Attribute, AttributeType, KeyType, MlDsaParameterSetType, ObjectClass, ObjectHandle,
    ParameterSetType, SlhDsaParameterSetType,
};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::RawAuthPin;
use hartlock_image::{Algorithm, Curve, HashId, MlDsaSet, RsaPadding, SlhDsaSet};
use pkcs1::UintRef;
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::der::{Decode, Encode};

use super::uri::{SignerUri, TokenUri};
use super::{Message, Signer, checked};
use crate::random::random;
use crate::request::{digest, signed_hash};
use crate::rsa::SchemeSources;
use crate::{
    Error, KeyError, KeyErrorKind, OnProgress, PublicKey, ReadOptions, SignerError, SignerReason,
    oids, passphrase_in_file, rsa,
};

/// Length in bytes of the id that a new key gets if its URI has none.
const NEW_ID: usize = 16;
/// The curve of Ed25519 as a PrintableString, which PKCS#11 2.4 has in the place of an object identifier.
const EDWARDS25519: &[u8] = b"\x13\x0cedwards25519";
/// Number of looks for a token, and the time between two of them.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(60);
const EXPONENT: [u8; 3] = [1, 0, 1];

/// The modules that are loaded and the sessions that are open.
#[derive(Default)]
pub(super) struct Tokens {
    modules: Vec<(PathBuf, Pkcs11)>,
    sessions: Vec<(PathBuf, Slot, Rc<Session>)>,
}

/// A key in a token.
#[derive(Debug)]
pub(super) struct TokenKey {
    shown: String,
    session: Rc<Session>,
    key: ObjectHandle,
    public: PublicKey,
}

/// Turns errors of a module into those of this crate.
struct Refuse<'a>(&'a str);

impl Refuse<'_> {
    fn with(&self, reason: SignerReason, detail: impl Into<String>) -> Error {
        SignerError::new(reason, self.0, detail).into()
    }

    fn plain(&self, reason: SignerReason) -> Error {
        self.with(reason, "")
    }

    fn of(&self, error: Pkcs11Error) -> Error {
        use RvError as E;
        use SignerReason as R;
        let Pkcs11Error::Pkcs11(rv, function) = &error else {
            return self.with(R::TokenFault, error.to_string());
        };
        let reason = match rv {
            E::PinIncorrect | E::PinInvalid | E::PinLenRange => R::PinWrong,
            E::PinLocked => R::PinLocked,
            E::KeyFunctionNotPermitted => R::TokenKeyMayNotSign,
            E::MechanismInvalid | E::MechanismParamInvalid | E::FunctionNotSupported => {
                R::TokenAlgorithm
            }
            E::DeviceRemoved
            | E::DeviceError
            | E::TokenNotPresent
            | E::SlotIdInvalid
            | E::SessionClosed
            | E::SessionHandleInvalid
            | E::UserNotLoggedIn
            | E::KeyHandleInvalid
            | E::ObjectHandleInvalid => R::TokenGone,
            _ => R::TokenFault,
        };
        self.with(reason, format!("{function} answered {rv:?}"))
    }
}

impl Tokens {
    pub(super) fn open_key(
        &mut self,
        uri: &TokenUri,
        options: ReadOptions<'_>,
    ) -> Result<TokenKey, Error> {
        let refuse = Refuse(&uri.shown);
        let session = self.session(uri, options, false)?;
        let mut template = vec![Attribute::Class(ObjectClass::PRIVATE_KEY)];
        template.extend(uri.object.clone().map(Attribute::Label));
        template.extend(uri.id.clone().map(Attribute::Id));
        let found = session.find_objects(&template).map_err(|it| refuse.of(it))?;
        let key = match found[..] {
            [key] => key,
            [] => return Err(refuse.plain(SignerReason::TokenKeyMissing)),
            _ => {
                let detail = format!("{} keys", found.len());
                return Err(refuse.with(SignerReason::TokenKeyAmbiguous, detail));
            }
        };
        let of_key = Attributes::read(&session, key).map_err(|it| refuse.of(it))?;
        if of_key.sign == Some(false) {
            return Err(refuse.plain(SignerReason::TokenKeyMayNotSign));
        }
        let public = match &uri.public {
            Some(path) => PublicKey::read_for(path, options.algorithms)?,
            None => public_half(&session, &of_key, &refuse, options.algorithms)?,
        };
        Ok(TokenKey { shown: uri.shown.clone(), session, key, public })
    }

    /// Finds the token and logs in to it, if that was not done before.
    fn session(
        &mut self,
        uri: &TokenUri,
        options: ReadOptions<'_>,
        is_writing: bool,
    ) -> Result<Rc<Session>, Error> {
        let refuse = Refuse(&uri.shown);
        let (module, slot, info) = self.token(uri)?;
        let is_open = |it: &&(PathBuf, Slot, Rc<Session>)| (&it.0, it.1) == (&uri.module, slot);
        if let Some((_, _, session)) = self.sessions.iter().find(is_open) {
            return Ok(session.clone());
        }
        let session = match is_writing {
            true => module.open_rw_session(slot),
            false => module.open_ro_session(slot),
        };
        let session = Rc::new(session.map_err(|it| refuse.of(it))?);
        if info.login_required() {
            log_in(&session, &info, uri, options)?;
        }
        self.sessions.push((uri.module.clone(), slot, session.clone()));
        Ok(session)
    }

    /// Finds the token. SoftHSM writes the file of a token at each log-in, and for a moment others cannot read it: a
    /// token that is not found is looked for again.
    fn token(&mut self, uri: &TokenUri) -> Result<(Pkcs11, Slot, TokenInfo), Error> {
        let mut looks = LOOKS;
        loop {
            let module = self.module(uri)?;
            let found = find_token(&module, uri);
            looks -= 1;
            // To list the tokens anew, a module has to begin anew, which would end its sessions.
            let is_used = self.sessions.iter().any(|(path, _, _)| *path == uri.module);
            match found {
                Err(Error::Signer(SignerError {
                    reason: SignerReason::TokenMissing | SignerReason::TokenFault,
                    ..
                })) if looks > 0 && !is_used => {
                    self.modules.retain(|(path, _)| *path != uri.module);
                    // It is loaded again, and then says what is wrong.
                    let _ = module.finalize();
                    std::thread::sleep(PAUSE);
                }
                found => return found.map(|(slot, info)| (module, slot, info)),
            }
        }
    }

    fn module(&mut self, uri: &TokenUri) -> Result<Pkcs11, Error> {
        if let Some((_, module)) = self.modules.iter().find(|(path, _)| *path == uri.module) {
            return Ok(module.clone());
        }
        let refuse = Refuse(&uri.shown);
        let unusable =
            |error: Pkcs11Error| refuse.with(SignerReason::ModuleUnusable, error.to_string());
        let module = Pkcs11::new(&uri.module).map_err(unusable)?;
        module
            .initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))
            .map_err(unusable)?;
        self.modules.push((uri.module.clone(), module.clone()));
        Ok(module)
    }
}

fn find_token(module: &Pkcs11, uri: &TokenUri) -> Result<(Slot, TokenInfo), Error> {
    let refuse = Refuse(&uri.shown);
    let mut found = Vec::new();
    for slot in module.get_slots_with_token().map_err(|it| refuse.of(it))? {
        let info = module.get_token_info(slot).map_err(|it| refuse.of(it))?;
        if is_meant(uri, &info) {
            found.push((slot, info));
        }
    }
    match found.len() {
        0 | 1 => found.pop().ok_or_else(|| refuse.plain(SignerReason::TokenMissing)),
        count => Err(refuse.with(SignerReason::TokenAmbiguous, format!("{count} tokens"))),
    }
}

fn is_meant(uri: &TokenUri, info: &TokenInfo) -> bool {
    let is = |wanted: &Option<Vec<u8>>, actual: &str| {
        wanted.as_ref().is_none_or(|wanted| wanted == actual.trim_end_matches(' ').as_bytes())
    };
    info.token_initialized()
        && is(&uri.token, info.label())
        && is(&uri.manufacturer, info.manufacturer_id())
        && is(&uri.model, info.model())
        && is(&uri.serial, info.serial_number())
}

/// Logs in with a PIN, which is tried once. A token with keys of its own asks for it itself.
fn log_in(
    session: &Session,
    info: &TokenInfo,
    uri: &TokenUri,
    options: ReadOptions<'_>,
) -> Result<(), Error> {
    let refuse = Refuse(&uri.shown);
    if info.user_pin_locked() {
        return Err(refuse.plain(SignerReason::PinLocked));
    }
    if info.protected_authentication_path() {
        return session.login(UserType::User, None).map_err(|it| refuse.of(it));
    }
    let pin = match (&uri.pin_source, options.passphrase) {
        (Some(path), _) => passphrase_in_file(path)?,
        (None, Some(ask)) => ask(Path::new(&uri.shown)).map_err(|error| match error {
            Error::Key(KeyError { kind: KeyErrorKind::Encrypted, .. }) => {
                refuse.plain(SignerReason::PinMissing)
            }
            other => other,
        })?,
        (None, None) => return Err(refuse.plain(SignerReason::PinMissing)),
    };
    // The copy is wiped like the original.
    let pin = RawAuthPin::new(Box::new(pin.as_slice().to_vec()));
    session.login_with_raw(UserType::User, &pin).map_err(|error| refuse.of(error))
}

/// The attributes of a key that say what it is. What a token does not tell is absent.
#[derive(Default)]
struct Attributes {
    key_type: Option<KeyType>,
    id: Vec<u8>,
    label: Vec<u8>,
    sign: Option<bool>,
    modulus: Option<Vec<u8>>,
    exponent: Option<Vec<u8>>,
    curve: Option<Vec<u8>>,
    point: Option<Vec<u8>>,
    set: Option<ParameterSetType>,
    value: Option<Vec<u8>>,
}

impl Attributes {
    fn read(session: &Session, object: ObjectHandle) -> Result<Self, Pkcs11Error> {
        use AttributeType as T;
        let general = [T::KeyType, T::Id, T::Label];
        let mut attributes = Self::default();
        attributes.fill(session.get_attributes(object, &general)?);
        // A token may refuse attributes that its kind of key does not have. CKA_VALUE is asked of public keys
        // alone: of a private one it is the secret.
        let mut asked = vec![T::Modulus, T::PublicExponent, T::EcParams, T::EcPoint];
        asked.push(T::ParameterSet);
        asked.push(T::Sign);
        for kind in asked {
            attributes.fill(session.get_attributes(object, &[kind]).unwrap_or_default());
        }
        Ok(attributes)
    }

    fn fill(&mut self, values: Vec<Attribute>) {
        for value in values {
            match value {
                Attribute::KeyType(it) => self.key_type = Some(it),
                Attribute::Id(it) => self.id = it,
                Attribute::Label(it) => self.label = it,
                Attribute::Sign(it) => self.sign = Some(it),
                Attribute::Modulus(it) => self.modulus = Some(it),
                Attribute::PublicExponent(it) => self.exponent = Some(it),
                Attribute::EcParams(it) => self.curve = Some(it),
                Attribute::EcPoint(it) => self.point = Some(it),
                Attribute::ParameterSet(it) => self.set = Some(it),
                Attribute::Value(it) => self.value = Some(it),
                _ => {}
            }
        }
    }

    /// Returns the public key. `None` if attributes for it are missing.
    fn public_key(&self, algorithms: &[Algorithm]) -> Result<Option<PublicKey>, KeyErrorKind> {
        let unsupported = |what: &str| Err(KeyErrorKind::UnsupportedAlgorithm(what.to_string()));
        let Some(key_type) = self.key_type else { return Ok(None) };
        let (algorithm, bytes) = match key_type {
            KeyType::RSA => {
                let (Some(modulus), Some(exponent)) = (&self.modulus, &self.exponent) else {
                    return Ok(None);
                };
                let malformed = |_| KeyErrorKind::Malformed("its numbers are not valid");
                let key = pkcs1::RsaPublicKey {
                    modulus: UintRef::new(modulus).map_err(malformed)?,
                    public_exponent: UintRef::new(exponent).map_err(malformed)?,
                };
                let der = key.to_der().map_err(malformed)?;
                let scheme = SchemeSources { requested: algorithms, ..SchemeSources::default() };
                (scheme.algorithm(rsa::public_bits(&der)?)?, der)
            }
            KeyType::EC => {
                let (Some(curve), Some(point)) = (&self.curve, &self.point) else {
                    return Ok(None);
                };
                let curve = ObjectIdentifier::from_der(curve).ok().and_then(oids::curve);
                let Some(curve) = curve else { return unsupported("EC on another curve") };
                (Algorithm::Ecdsa(curve), unwrapped(point))
            }
            KeyType::EC_EDWARDS => {
                let (Some(curve), Some(point)) = (&self.curve, &self.point) else {
                    return Ok(None);
                };
                let identifier = ObjectIdentifier::from_der(curve).ok();
                if curve != EDWARDS25519 && identifier != Some(oids::ED25519) {
                    return unsupported("EdDSA on another curve");
                }
                (Algorithm::Ed25519, unwrapped(point))
            }
            KeyType::ML_DSA | KeyType::SLH_DSA => {
                let (Some(set), Some(value)) = (self.set, &self.value) else { return Ok(None) };
                let algorithm = parameter_sets().find(|(_, known)| *known == set);
                match algorithm {
                    Some((algorithm, _)) if type_of(algorithm) == Some(key_type) => {
                        (algorithm, value.clone())
                    }
                    _ => return unsupported("an unknown set of parameters"),
                }
            }
            other => return unsupported(&other.to_string()),
        };
        PublicKey::from_bytes(algorithm, &bytes).map(Some)
    }
}

/// Returns the bytes of a point. PKCS#11 has an OCTET STRING around them, and some modules leave it out.
fn unwrapped(point: &[u8]) -> Vec<u8> {
    <&OctetStringRef>::from_der(point).map_or(point, |it| it.as_bytes()).to_vec()
}

/// Finds the public key that belongs to a private key: the one with the same id and label, or the numbers that
/// the private key itself has.
fn public_half(
    session: &Session,
    private: &Attributes,
    refuse: &Refuse<'_>,
    algorithms: &[Algorithm],
) -> Result<PublicKey, Error> {
    let fail = |kind| Error::Key(KeyError { path: refuse.0.into(), kind });
    let mut template = vec![Attribute::Class(ObjectClass::PUBLIC_KEY)];
    template.extend(private.key_type.map(Attribute::KeyType));
    // A label is no proof, and none is needed: signatures are verified with the key.
    template.push(match private.id.is_empty() {
        false => Attribute::Id(private.id.clone()),
        true => Attribute::Label(private.label.clone()),
    });
    let found = session.find_objects(&template).map_err(|it| refuse.of(it))?;
    let public = match found[..] {
        [] => private.public_key(algorithms).map_err(fail)?,
        [object] => {
            let mut attributes = Attributes::read(session, object).map_err(|it| refuse.of(it))?;
            let value = session.get_attributes(object, &[AttributeType::Value]);
            attributes.fill(value.unwrap_or_default());
            attributes.public_key(algorithms).map_err(fail)?
        }
        _ => {
            let detail = format!("{} public keys", found.len());
            return Err(refuse.with(SignerReason::TokenKeyAmbiguous, detail));
        }
    };
    public.ok_or_else(|| refuse.plain(SignerReason::TokenPublicKeyMissing))
}

/// Iterates over the algorithms whose keys have a set of parameters, with the numbers of the sets.
fn parameter_sets() -> impl Iterator<Item = (Algorithm, ParameterSetType)> {
    use MlDsaParameterSetType as M;
    use SlhDsaParameterSetType as S;
    let lattices = MlDsaSet::ALL.into_iter().map(|set| {
        let number = match set {
            MlDsaSet::MlDsa44 => M::ML_DSA_44,
            MlDsaSet::MlDsa65 => M::ML_DSA_65,
            MlDsaSet::MlDsa87 => M::ML_DSA_87,
        };
        (Algorithm::MlDsa(set), number.into())
    });
    // Both lists are in the same order: pairs of SHA-2 and SHAKE, `s` before `f`, 128 to 256 bits.
    let numbers = [
        S::SHA2_128S,
        S::SHAKE_128S,
        S::SHA2_128F,
        S::SHAKE_128F,
        S::SHA2_192S,
        S::SHAKE_192S,
        S::SHA2_192F,
        S::SHAKE_192F,
        S::SHA2_256S,
        S::SHAKE_256S,
        S::SHA2_256F,
        S::SHAKE_256F,
    ];
    let sets = (1..=12).filter_map(SlhDsaSet::new).map(Algorithm::SlhDsa);
    lattices.chain(sets.zip(numbers.map(ParameterSetType::from)))
}

fn type_of(algorithm: Algorithm) -> Option<KeyType> {
    Some(match algorithm {
        Algorithm::Rsa { .. } => KeyType::RSA,
        Algorithm::Ecdsa(_) => KeyType::EC,
        Algorithm::Ed25519 => KeyType::EC_EDWARDS,
        Algorithm::MlDsa(_) => KeyType::ML_DSA,
        Algorithm::SlhDsa(_) => KeyType::SLH_DSA,
        // The state of such a key would be that of the token.
        Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_) => return None,
    })
}

/// Returns the mechanism that signs whole messages, or digests if `signed_hash` names the hash of ECDSA.
fn mechanism(algorithm: Algorithm, hedge: HedgeType) -> Option<Mechanism<'static>> {
    let context = SignAdditionalContext::new(hedge, None);
    Some(match algorithm {
        Algorithm::Ed25519 => Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Ed25519)),
        Algorithm::Ecdsa(_) => Mechanism::Ecdsa,
        Algorithm::Rsa { padding, hash, .. } => {
            let (hash_alg, mgf, size) = match hash {
                HashId::Sha256 => (MechanismType::SHA256, PkcsMgfType::MGF1_SHA256, 32_u64),
                HashId::Sha384 => (MechanismType::SHA384, PkcsMgfType::MGF1_SHA384, 48),
                HashId::Sha512 => (MechanismType::SHA512, PkcsMgfType::MGF1_SHA512, 64),
                _ => return None,
            };
            let pss = PkcsPssParams { hash_alg, mgf, s_len: size.into() };
            match (padding, hash) {
                (RsaPadding::Pss, HashId::Sha256) => Mechanism::Sha256RsaPkcsPss(pss),
                (RsaPadding::Pss, HashId::Sha384) => Mechanism::Sha384RsaPkcsPss(pss),
                (RsaPadding::Pss, _) => Mechanism::Sha512RsaPkcsPss(pss),
                (RsaPadding::Pkcs1, HashId::Sha256) => Mechanism::Sha256RsaPkcs,
                (RsaPadding::Pkcs1, HashId::Sha384) => Mechanism::Sha384RsaPkcs,
                (RsaPadding::Pkcs1, _) => Mechanism::Sha512RsaPkcs,
            }
        }
        Algorithm::MlDsa(_) => Mechanism::MlDsa(context),
        Algorithm::SlhDsa(_) => Mechanism::SlhDsa(context),
        Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_) => return None,
    })
}

impl Signer for TokenKey {
    fn public(&self) -> PublicKey {
        self.public.clone()
    }

    fn sign_message(&self, message: &Message<'_>, _: OnProgress<'_>) -> Result<Vec<u8>, Error> {
        let refuse = Refuse(&self.shown);
        let algorithm = self.public.algorithm();
        // Not every token has mechanisms that hash for ECDSA.
        let hashed = match algorithm {
            Algorithm::Ecdsa(_) => signed_hash(algorithm).map(|it| digest(it, message.signed)),
            _ => None,
        };
        let data = hashed.as_deref().unwrap_or(message.signed);
        let sign = |hedge| {
            let mechanism = mechanism(algorithm, hedge)
                .ok_or_else(|| refuse.plain(SignerReason::TokenAlgorithm))?;
            Ok::<_, Error>(self.session.sign(&mechanism, self.key, data))
        };
        // The same bundle is signed with the same bytes, if the token can do that.
        let answer = match sign(HedgeType::DeterministicRequired)? {
            Err(Pkcs11Error::Pkcs11(RvError::MechanismParamInvalid, _)) => {
                sign(HedgeType::Preferred)?
            }
            answer => answer,
        };
        checked(&self.shown, &self.public, message.signed, &answer.map_err(|it| refuse.of(it))?)
    }
}

/// Generates a key in a token, which never leaves it, and returns its public half.
///
/// # Errors
/// If the URI is not valid, the token has a key of this label or id, or cannot generate such a key.
pub fn generate_on_token(
    name: &Path,
    algorithm: Algorithm,
    options: ReadOptions<'_>,
) -> Result<PublicKey, Error> {
    let uri = match SignerUri::parse(name)? {
        SignerUri::Token(uri) => uri,
        SignerUri::Program(uri) => {
            let detail = "keys are generated in tokens only";
            return Err(SignerError::new(SignerReason::SignerUri, uri.shown, detail).into());
        }
    };
    let refuse = Refuse(&uri.shown);
    let (Some(key_type), Some(generator)) = (type_of(algorithm), generator(algorithm)) else {
        return Err(refuse.plain(SignerReason::TokenAlgorithm));
    };
    let session = Tokens::default().session(&uri, options, true)?;
    let label = uri.object.clone().map(Attribute::Label);
    for same in label.iter().chain(&uri.id.clone().map(Attribute::Id)) {
        for class in [ObjectClass::PRIVATE_KEY, ObjectClass::PUBLIC_KEY] {
            let template = [Attribute::Class(class), same.clone()];
            if !session.find_objects(&template).map_err(|it| refuse.of(it))?.is_empty() {
                return Err(refuse.plain(SignerReason::TokenKeyExists));
            }
        }
    }
    let id = match uri.id.clone() {
        Some(id) => id,
        None => {
            let mut id = vec![0; NEW_ID];
            random(&mut id)
                .map_err(|kind| Error::Key(KeyError { path: uri.shown.clone().into(), kind }))?;
            id
        }
    };
    let both = || {
        let mut both = vec![Attribute::Token(true), Attribute::KeyType(key_type)];
        both.push(Attribute::Id(id.clone()));
        both.extend(label.clone());
        both
    };
    let mut public = both();
    public.extend([Attribute::Private(false), Attribute::Verify(true)]);
    public.extend(match algorithm {
        Algorithm::Rsa { modulus_bits, .. } => vec![
            Attribute::ModulusBits(u64::from(modulus_bits).into()),
            Attribute::PublicExponent(EXPONENT.to_vec()),
        ],
        Algorithm::Ecdsa(curve) => {
            let identifier = match curve {
                Curve::P256 => oids::P256,
                Curve::P384 => oids::P384,
            };
            vec![Attribute::EcParams(identifier.to_der().expect("a few bytes"))]
        }
        Algorithm::Ed25519 => vec![Attribute::EcParams(EDWARDS25519.to_vec())],
        _ => parameter_sets()
            .find(|(known, _)| *known == algorithm)
            .map(|(_, set)| Attribute::ParameterSet(set))
            .into_iter()
            .collect(),
    });
    let mut private = both();
    private.extend([
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Sign(true),
    ]);
    if let Algorithm::Rsa { .. } = algorithm {
        // Modules would otherwise allow what such a key can also do.
        private.extend([Attribute::Decrypt(false), Attribute::Unwrap(false)]);
    }
    let (object, _) = session
        .generate_key_pair(&generator, &public, &private)
        .map_err(|error| refuse.of(error))?;
    let mut attributes = Attributes::read(&session, object).map_err(|it| refuse.of(it))?;
    let value = session.get_attributes(object, &[AttributeType::Value]);
    attributes.fill(value.unwrap_or_default());
    let fail = |kind| Error::Key(KeyError { path: uri.shown.clone().into(), kind });
    attributes
        .public_key(&[algorithm])
        .map_err(fail)?
        .ok_or_else(|| refuse.plain(SignerReason::TokenPublicKeyMissing))
}

fn generator(algorithm: Algorithm) -> Option<Mechanism<'static>> {
    Some(match algorithm {
        Algorithm::Rsa { .. } => Mechanism::RsaPkcsKeyPairGen,
        Algorithm::Ecdsa(_) => Mechanism::EccKeyPairGen,
        Algorithm::Ed25519 => Mechanism::EccEdwardsKeyPairGen,
        Algorithm::MlDsa(_) => Mechanism::MlDsaKeyPairGen,
        Algorithm::SlhDsa(_) => Mechanism::SlhDsaKeyPairGen,
        Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_) => return None,
    })
}

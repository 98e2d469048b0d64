import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { t } from '@/messages/index.ts'

/** Result of a step at the authenticator: its response, or the reason for its absence. */
export type PasskeyOutcome = { response: string; problem: null } | { response: null; problem: string }

const USED = 'muster.passkey'
/** Whether a passkey was used in this browser. If so, the email field suggests passkeys. */
export const hasUsedPasskey = (): boolean => localStorage.getItem(USED) !== null
export const rememberPasskey = (): void => localStorage.setItem(USED, '1')

/** Asks the authenticator for a new passkey. */
export const createPasskey = (options: string): Promise<PasskeyOutcome> =>
  answer(() => startRegistration({ optionsJSON: JSON.parse(options) as PublicKeyCredentialCreationOptionsJSON }))

/**
 * Asks for a signature of a passkey.
 * @param isAutofill offers passkeys among the suggestions of the email field, instead of in a window
 */
export const askForPasskey = (options: string, isAutofill = false): Promise<PasskeyOutcome> =>
  answer(() =>
    startAuthentication({
      optionsJSON: JSON.parse(options) as PublicKeyCredentialRequestOptionsJSON,
      useBrowserAutofill: isAutofill,
    }),
  )

async function answer(ask: () => Promise<unknown>): Promise<PasskeyOutcome> {
  if (!browserSupportsWebAuthn()) return { response: null, problem: t('passkeys.unsupported') }
  try {
    return { response: JSON.stringify(await ask()), problem: null }
  } catch (error) {
    const isKnown = error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
    return { response: null, problem: t(isKnown ? 'passkeys.alreadyAdded' : 'passkeys.canceled') }
  }
}

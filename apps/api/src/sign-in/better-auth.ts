import { passkey } from '@better-auth/passkey'
import { recordPasskeyUse } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import type { Log } from '@muster/core/log'
import { schema } from '@muster/core/registry'
import type { BetterAuthPlugin } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { APIError, createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import { magicLink } from 'better-auth/plugins/magic-link'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { withHashedSessions } from './hashed-sessions.ts'
import { cookiePrefix } from './session-cookie.ts'

export const PASSWORD_LENGTH = { min: 12, max: 128 } as const
const DAY_S = 24 * 3600

/** Route that signs in a user whom an identity provider has authenticated. Only `createAuth` calls it. */
export const EXTERNAL_SIGN_IN = '/sign-in/external'

const externalSignIn = () =>
  ({
    id: 'external-sign-in',
    endpoints: {
      signInExternal: createAuthEndpoint(EXTERNAL_SIGN_IN, { method: 'POST' }, async (ctx) => {
        const { internalAdapter } = ctx.context
        const user = await internalAdapter.findUserById((ctx.body as { userId: string }).userId)
        if (!user) throw ctx.error('UNAUTHORIZED')
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(ctx, { session, user })
        return ctx.json({ token: session.token })
      }),
    },
  }) satisfies BetterAuthPlugin

/** Name of the cookie with a passkey challenge, without prefix. */
export const PASSKEY_CHALLENGE = 'passkey'

/** Requires user verification. The plugin also accepts authenticators that only check user presence. */
function assertUserVerified(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', { message: 'the authenticator did not verify the user' })
}

/** Adds our route to those after which the plugin requires the second factor. */
const alsoAfterExternalSignIn = <Plugin extends ReturnType<typeof twoFactor>>(plugin: Plugin): Plugin => ({
  ...plugin,
  hooks: {
    ...plugin.hooks,
    after: plugin.hooks.after.map((hook) => ({
      ...hook,
      matcher: (context: { path?: string }) => context.path === EXTERNAL_SIGN_IN || hook.matcher(context as never),
    })),
  },
})

type Options = {
  db: Db
  secret: string
  publicUrl: string
  log: Log
  sessionDays: number
  onLink: (email: string, token: string) => void
  onReset: (email: string, token: string) => void
}
export type BetterAuth = ReturnType<typeof createBetterAuth>

/** Configures better-auth on our tables. Only `createAuth` calls its handler, with the client address in `x-muster-client`. */
export function createBetterAuth({ db, secret, publicUrl, log, sessionDays, onLink, onReset }: Options) {
  const { accounts, passkeys, sessions, twoFactors, users, verifications } = schema
  return betterAuth({
    appName: 'Muster',
    baseURL: publicUrl,
    basePath: '/api/auth',
    secret,
    database: withHashedSessions(
      drizzleAdapter(db, {
        provider: 'pg',
        schema: {
          user: users,
          session: sessions,
          account: accounts,
          verification: verifications,
          twoFactor: twoFactors,
          passkey: passkeys,
        },
      }),
    ),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      // Returns at once, so that the response does not take longer for addresses that have an account.
      sendResetPassword: async ({ user, token }) => onReset(user.email, token),
    },
    // The absolute end: use does not extend it. `createCallers` checks the idle time.
    // `freshAge`: the callers of its routes check the current password instead.
    session: { expiresIn: sessionDays * DAY_S, disableSessionRefresh: true, freshAge: 0 },
    verification: { storeIdentifier: 'hashed' },
    // Its limits are per process and address only; `createThrottle` has ours.
    rateLimit: { enabled: false },
    advanced: {
      ipAddress: { ipAddressHeaders: ['x-muster-client'] },
      // better-auth would add `__Secure-`; the prefix has `__Host-`.
      useSecureCookies: false,
      cookiePrefix: cookiePrefix(publicUrl),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: publicUrl.startsWith('https://') },
      // The column defaults generate IDs.
      database: { generateId: false },
    },
    telemetry: { enabled: false },
    logger: {
      // Its warnings report unknown addresses and wrong passwords, on which an administrator cannot act.
      log: (level, message) =>
        log[level === 'error' && !message.startsWith('Failed to verify') ? 'error' : 'info']({ from: 'better-auth' }, message),
    },
    plugins: [
      // A user without a password signed in through a provider of the organization.
      alsoAfterExternalSignIn(twoFactor({ allowPasswordless: true })),
      externalSignIn(),
      passkey({
        rpID: new URL(publicUrl).hostname,
        rpName: 'Muster',
        origin: new URL(publicUrl).origin,
        // Found without an email address, and protected by a PIN or a fingerprint: it counts as two factors.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        advanced: { webAuthnChallengeCookie: PASSKEY_CHALLENGE },
        registration: {
          afterVerification: ({ verification }) => assertUserVerified(verification.registrationInfo?.userVerified),
        },
        authentication: {
          async afterVerification({ verification: { authenticationInfo } }) {
            assertUserVerified(authenticationInfo.userVerified)
            await recordPasskeyUse(db, authenticationInfo.credentialID)
          },
        },
      }),
      magicLink({
        disableSignUp: true,
        expiresIn: DAY_S,
        storeToken: 'hashed',
        sendMagicLink: ({ email, token }) => onLink(email, token),
      }),
    ],
  })
}

import { resetSignIn } from '@muster/core/access'
import { systemCtx } from '@muster/core/context'
import { reasonOf } from '@muster/core/log'
import { secretLink } from './mail/mails.ts'
import { openRuntime } from './runtime.ts'
import { createAuth } from './sign-in/auth.ts'

// `node apps/api/src/reset-owner.ts [EMAIL]` removes the password, the passkeys, the second factor and the sessions of the owner, or of
// the user with this address, and prints a one-time sign-in link.
try {
  const { runtime, publicUrl, authSecret, close } = await openRuntime({ ...process.env, LOG_LEVEL: 'silent' }, 'reset-owner')
  const auth = createAuth({ db: runtime.db, secret: authSecret, publicUrl, log: runtime.log })
  const { email } = await resetSignIn(systemCtx(runtime), { email: process.argv[2] ?? null })
  const link = secretLink(publicUrl, '/sign-in', await auth.createSignInToken(email))
  process.stderr.write(
    `The password, the passkeys, the second factor and all sessions of ${email} were removed. Open this link within 24 hours; it works once:\n`,
  )
  process.stdout.write(`${link}\n`)
  await close()
  process.exit(0)
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exit(1)
}

import { appointInstallationAdmin } from '@muster/core/access'
import { systemCtx } from '@muster/core/context'
import { reasonOf } from '@muster/core/log'
import { openRuntime } from './runtime.ts'

// `node apps/api/src/appoint.ts EMAIL` makes the user with this address an installation administrator.
try {
  const { runtime, close } = await openRuntime({ ...process.env, LOG_LEVEL: 'silent' }, 'appoint')
  const { name, email } = await appointInstallationAdmin(systemCtx(runtime), { email: process.argv[2] ?? '' })
  process.stdout.write(`${name} (${email}) is now an installation administrator.\n`)
  await close()
  process.exit(0)
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exit(1)
}

import { systemCtx } from '@muster/core/context'
import { reasonOf } from '@muster/core/log'
import { type Finding, runSystemChecks } from '@muster/core/system'
import { openRuntime } from './runtime.ts'

// `node apps/api/src/doctor.ts` runs the system checks on this machine with the settings of the API, which need not run. Prints one
// line per finding; exit code 1 when one of them is an error.
const MARK = { OK: '✓', WARNING: '!', ERROR: '✗' } as const

function print({ check, source, severity, message, nextStep }: Finding): void {
  process.stdout.write(`${MARK[severity]} ${check.toLowerCase().padEnd(15)} ${message} (${source})\n`)
  if (nextStep) process.stdout.write(`${' '.repeat(18)}Next step: ${nextStep}\n`)
}

try {
  const { runtime, systemChecks, close } = await openRuntime({ ...process.env, LOG_LEVEL: 'silent' }, 'doctor')
  const findings = await runSystemChecks({ ...systemCtx(runtime), systemDb: runtime.db }, systemChecks, 'this machine')
  for (const finding of findings) print(finding)
  await close()
  process.exit(findings.some(({ severity }) => severity === 'ERROR') ? 1 : 0)
} catch (error) {
  process.stdout.write(`✗ The API cannot start with these settings. ${reasonOf(error)}\n`)
  process.exit(1)
}

import { expect, test } from 'vitest'
import type { Session } from '../../ssh/exec.ts'
import { runAsRoot } from './cluster-state.ts'
import type { OperationContext } from './operation.ts'

/** An operation on a controller where the account has this output; the commands after it succeed. */
function createOperation(account: string) {
  const scripts: string[] = []
  const session = {
    async exec(_command, { stdin }) {
      const lines = String(stdin).split('\n')
      const nonce = lines.find((line) => line.startsWith('echo '))!.slice(5)
      const isAccount = String(stdin).includes('id -un')
      if (!isAccount) scripts.push(lines.find((line) => line.endsWith(' </dev/null'))!.replace(' </dev/null', ''))
      const stdout = Buffer.from(`${nonce}\n${isAccount ? account : ''}\n${nonce} 0\n`)
      return { stdout, stderr: Buffer.from(''), code: 0, signal: null, truncated: false, timedOut: false }
    },
  } as Session
  const controller = { session, programFolder: null, timeoutMs: 1000, signal: new AbortController().signal }
  const op = { slurm: (work: (context: typeof controller) => unknown) => work(controller) } as unknown as OperationContext
  return { op, scripts }
}
const account = (user: string, id: number, config: string) =>
  `${user}\n${id}\nSLURM_CONF=${config}\nscontrol=/opt/slurm/bin/scontrol\nscancel=\nsacctmgr=\nsrun=\n`

test.each([
  ['root', account('root', 0, ''), "'scontrol' 'ping'"],
  ['root with another configuration', account('root', 0, 'set'), "'scontrol' 'ping'"],
  ['an account with sudo', account('ops', 1000, ''), "'sudo' '-n' '/opt/slurm/bin/scontrol' 'ping'"],
])('runs a command as %s', async (_, output, command) => {
  const { op, scripts } = createOperation(output)
  await runAsRoot(op, ['scontrol', 'ping'])
  expect(scripts).toEqual([command])
})

test('runs nothing where sudo would drop SLURM_CONF', async () => {
  const { op, scripts } = createOperation(account('ops', 1000, 'set'))
  await expect(runAsRoot(op, ['scontrol', 'ping'])).rejects.toThrow(
    /^`scontrol ping` was not run. sudo is not used: the shell of ops/,
  )
  expect(scripts).toEqual([])
})

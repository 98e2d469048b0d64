import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../ssh/exec.ts'
import type { ControllerContext, OperationContext } from './operation.ts'
import { assertNoTopologyYaml } from './topology-yaml.ts'

/** A controller whose shell is that of this machine. */
function createController() {
  const folder = mkdtempSync(join(tmpdir(), 'topology-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const exec: Pick<Session, 'exec'>['exec'] = async (_command, { stdin }) =>
    ({ stdout: execFileSync('sh', ['-c', `${stdin}true`]) }) as unknown as Awaited<ReturnType<Session['exec']>>
  const slurm: OperationContext['slurm'] = (work) => work({ session: { exec } } as ControllerContext)
  return { folder, op: { slurm, cluster: { settings: { SLURM_CONF: `${folder}/slurm.conf` } } } }
}

it('refuses a controller that reads topology.yaml, and names the file', async () => {
  const { folder, op } = createController()
  await assertNoTopologyYaml(op, '25.11.8')
  writeFileSync(join(folder, 'topology.yaml'), '- topology: default\n')
  await expect(assertNoTopologyYaml(op, '25.05.0')).rejects.toThrow(
    new RegExp(`^The controller reads ${folder}/topology.yaml, .*TopologyPlugin=topology/tree`),
  )
  // Earlier releases ignore the file.
  await assertNoTopologyYaml(op, '24.11.5')
})

import { computeNodes } from '@muster/core/nodes'
import { checkSlurmReadiness, slurmReadinessChecks } from '@muster/core/slurm-scaling'
import { canRunSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq, sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createSlurmFixture } from '../testing/slurm-fixture.ts'

it.runIf(canRunSlurm())('checks nodes over SSH before they join a cluster, and names those that cannot', async () => {
  const names = ['cpu-1', 'cpu-2', 'cpu-3']
  const lab = await createLab({ nodes: names.map((name) => ({ name, profile: 'cpu' })), bastion: false, mode: 'namespaces' })
  const fixture = await createSlurmFixture(lab)
  const { db } = fixture.runtime
  try {
    await db
      .update(computeNodes)
      .set({ readyAt: sql`now()`, cpuSockets: 1, cpuCores: 2, cpuThreads: 2, memoryBytes: 4 * 1024 ** 3 })
    // Another machine took the name of the third node.
    await db.update(computeNodes).set({ name: 'cpu-9' }).where(eq(computeNodes.name, 'cpu-3'))
    const listen = 'import socket, time; s = socket.create_server(("", 6818)); time.sleep(600)'
    await lab.node('cpu-2').exec(['sh', '-c', `setsid python3 -c '${listen}' </dev/null >/dev/null 2>&1 & sleep 1`])
    const nodeIds = names.map((name) => fixture.nodeId(name))
    const { id } = await checkSlurmReadiness(fixture.admin, { nodeIds })
    await fixture.checkReadiness({ id })
    const [check] = await db.select().from(slurmReadinessChecks).where(eq(slurmReadinessChecks.id, id))
    expect(check).toMatchObject({ error: null, clusterId: null, finishedAt: expect.any(Date) })
    const failed = check!.nodes.map(({ name, checks }) => [
      name,
      checks!.filter(({ state }) => state === 'FAILED').map(({ name }) => name),
    ])
    expect(failed).toEqual([
      ['cpu-1', []],
      ['cpu-2', ['slurm']],
      ['cpu-9', ['hostname']],
    ])
  } finally {
    await fixture.close()
  }
})

import { updateNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { setVars } from '@muster/core/variables'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'

let fixture: RunFixture
beforeAll(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible() })
})
afterAll(() => fixture.close())

const PLAY = JSON.stringify([
  {
    hosts: 'all',
    gather_facts: false,
    tasks: [
      {
        name: 'Show',
        debug: {
          msg: "{{ {'nvidia': nvidia_gpus | default('undefined'), 'ascend': ascend_npus | default('undefined'), 'rack': muster_rack | default('undefined')} }}",
        },
      },
    ],
  },
])

test('provides devices of the last discovery and fields of nodes as host variables; set variables take precedence', async () => {
  const { admin, runtime } = fixture
  const [found, overridden, unknown] = await fixture.given.fleet(admin, {
    nodes: 3,
    accelerators: 2,
    with: (i) => ({ connectionType: 'local' as const, ...(i < 2 ? { discoveredAt: new Date() } : {}) }),
  })
  const evil = "{{ lookup('pipe', 'id') }}"
  await updateNode(admin, { id: found!.id, rack: evil })
  const { accelerators } = schema
  await runtime.db.update(accelerators).set({ model: evil, toolkitVersion: '12.2' }).where(eq(accelerators.nodeId, found!.id))
  await setVars(admin, { nodeId: overridden!.id, text: 'nvidia_gpus: [set by an admin]', basedOn: 0 })
  const { run, events, log } = await (await fixture.start({ template: await fixture.template('facts', PLAY), limit: 'all' })).done
  expect([run.status, run.status === 'SUCCEEDED' || log]).toEqual(['SUCCEEDED', true])
  const shown = (name: string) =>
    (events.find((event) => event.kind === 'ok' && event.host === name)!.result as { msg: Record<string, unknown[]> }).msg
  const [device] = await runtime.db
    .select()
    .from(accelerators)
    .where(eq(accelerators.nodeId, found!.id))
    .orderBy(accelerators.index)
  expect(shown(found!.name).nvidia).toHaveLength(2)
  expect(shown(found!.name).nvidia![0]).toMatchObject({
    index: 0,
    name: evil,
    memory_total: device!.memoryTotal,
    driver_version: device!.driverVersion,
    cuda_version: '12.2',
    pci_address: device!.pciAddress,
  })
  expect(shown(found!.name).ascend).toEqual([])
  expect(shown(found!.name).rack).toEqual(evil)
  expect(shown(overridden!.name)).toEqual({ nvidia: ['set by an admin'], ascend: [], rack: 'undefined' })
  expect(shown(unknown!.name)).toEqual({ nvidia: 'undefined', ascend: 'undefined', rack: 'undefined' })
})

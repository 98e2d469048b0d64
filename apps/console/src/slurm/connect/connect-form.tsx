'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { PreflightList } from '@/connections/preflight-list.tsx'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { type Access, AccessFields, noAccess } from '@/nodes/access-fields.tsx'
import { AddNode } from '@/nodes/add/documents.ts'
import type { Preflight } from '@/nodes/documents.ts'
import { UpdateNode } from '@/nodes/node-documents.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { CommandList } from '../command-list.tsx'
import { AddCluster, type ClusterRow, NodesByText } from '../documents.ts'
import { PreviewPanel } from './preview-panel.tsx'
import { missingSlurmrestd, noSlurmrestd, SlurmrestdFields, slurmrestdInput } from './slurmrestd-fields.tsx'
import { useControllerTest } from './use-controller-test.ts'

const empty = { name: '', address: '', port: '', sshUser: '', region: '', programFolder: '' }

/** The node of the inventory that has an address, or undefined. */
function useNodeAt(address: string, port: number) {
  const search = useSettled(address)
  const [{ data }] = useQuery({
    query: NodesByText,
    variables: { text: search },
    pause: !search,
    requestPolicy: 'cache-and-network',
  })
  return search === address && search !== ''
    ? data?.nodes.edges.map(({ node }) => node).find((node) => node.host === address && (node.port ?? 22) === port)
    : undefined
}

/** A host name's first label; addresses have none that could name a node. */
const labelOf = (address: string): string | undefined => /^[a-zA-Z][\w-]*/.exec(address)?.[0]

/** Stages of a connection test that fail because of the address. */
const ADDRESS_STAGES: readonly string[] = ['RESOLVE', 'TCP', 'BANNER']

/** The field that a failed connection test concerns, with the reason and the next step; null when it concerns none. */
function failureOf(connection: Preflight | undefined): { field: 'address' | 'sshUser'; message: string } | null {
  const failed = connection?.stages.find(({ state }) => state === 'FAILED')
  if (!failed || failed.offeredKey) return null
  const field = ADDRESS_STAGES.includes(failed.stage) ? 'address' : failed.stage === 'AUTHENTICATION' ? 'sshUser' : null
  const message = [failed.detail, failed.hint].filter(Boolean).join(' ')
  return field && { field, message: message || (connection?.error ?? '') }
}

/** Connects an existing cluster: its controller joins the inventory, is tested, and the cluster is added. */
export function ConnectForm({ onAdded }: { onAdded: (cluster: ClusterRow) => void }) {
  const [form, setForm] = useState({ ...empty, ...noAccess, reuseConfig: true, ...noSlurmrestd })
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  const test = useControllerTest()
  const addNode = useMutation(AddNode)
  const updateNode = useMutation(UpdateNode)
  const addCluster = useMutation(AddCluster)
  const clusterBlocked = useBlockedReason('slurm:cluster:write')
  const nodeBlocked = useBlockedReason('node:write')
  const blocked = clusterBlocked ?? nodeBlocked
  const address = form.address.trim()
  const port = Number(form.port) || 22
  const found = useNodeAt(address, port)
  const [added, setAdded] = useState<{ id: string } | null>(null)
  // The node that this form added stays editable here, until its connection works.
  const existing = found && found.id !== added?.id ? found : undefined
  const [tested, setTested] = useState('')
  const testInput = { programFolder: form.programFolder || null, ...slurmrestdInput(form) }
  const access = [form.sshUser, form.credentialId, form.becomeCredentialId, form.bastionId]
  const settings = JSON.stringify([address, port, existing ? existing.id : access, testInput])
  const isTested = test.test?.isOk === true && tested === settings
  const nodeProblem = addNode.problem ?? updateNode.problem
  const failure = tested === settings ? failureOf(test.connections[0]) : null

  function reset() {
    setForm({ ...empty, ...noAccess, reuseConfig: true, ...noSlurmrestd })
    addNode.clear()
    updateNode.clear()
    setAdded(null)
    addCluster.clear()
    test.reset()
  }
  async function nodeId(): Promise<string | null> {
    if (existing) return existing.id
    const input = {
      name: labelOf(address) ?? `${form.name.trim()}-controller`,
      host: address,
      connectionType: 'SSH' as const,
      port,
      sshUser: form.sshUser || null,
      credentialId: form.credentialId,
      becomeCredentialId: form.becomeCredentialId || null,
      bastionId: form.bastionId || null,
      region: form.region || null,
    }
    const outcome = added ? await updateNode.run({ input: { ...input, id: added.id } }) : await addNode.run({ input })
    if (!outcome.ok) return null
    setAdded({ id: outcome.value.node.id })
    return outcome.value.node.id
  }
  async function start() {
    const id = await nodeId()
    if (!id) return
    setTested(settings)
    await test.start({ nodeId: id, ...testInput })
  }
  async function add() {
    if (!test.nodeId) return
    const outcome = await addCluster.run({
      input: {
        name: form.name.trim(),
        controllerNodeId: test.nodeId,
        region: form.region || null,
        ...testInput,
        reuseConfig: form.reuseConfig,
      },
    })
    if (!outcome.ok) return
    onAdded(outcome.value.slurmCluster)
    reset()
  }
  const text = (key: keyof typeof empty) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => change({ [key]: event.target.value }),
    error:
      issueFor(addCluster.problem, key) ??
      issueFor(nodeProblem, key === 'address' ? 'host' : key) ??
      (key === failure?.field ? failure.message : undefined),
  })
  const missing = !form.name.trim()
    ? t('slurmConnect.needName')
    : !address
      ? t('slurmConnect.needAddress')
      : !existing && !form.credentialId
        ? t('slurmConnect.needCredential')
        : missingSlurmrestd(form)
  return (
    <form
      aria-label={t('slurmConnect.formTitle')}
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!missing && !blocked && !test.isRunning) void start()
      }}
    >
      <Panel title={t('slurmConnect.formTitle')}>
        <div className="grid gap-4 sm:grid-cols-2">
          {(nodeProblem ?? addCluster.problem) && (
            <div className="sm:col-span-2">
              <Notice tone="bad">{(nodeProblem ?? addCluster.problem)?.message}</Notice>
            </div>
          )}
          <TextField label={t('slurmConnect.name')} hint={t('slurmConnect.nameHint')} required {...text('name')} />
          <TextField label={t('slurm.region')} optional {...text('region')} />
          <TextField label={t('slurmConnect.address')} hint={t('slurmConnect.addressHint')} mono required {...text('address')} />
          <TextField label={t('slurmConnect.port')} type="number" min={1} max={65535} placeholder="22" {...text('port')} />
          {existing ? (
            <div className="sm:col-span-2">
              <Notice
                action={<ButtonLink href={`/nodes/${encodeURIComponent(existing.id)}`}>{t('slurmConnect.openNode')}</ButtonLink>}
              >
                {t('slurmConnect.existing', { name: existing.name })}
              </Notice>
            </div>
          ) : (
            <>
              <TextField label={t('slurmConnect.user')} hint={t('slurmConnect.userHint')} mono optional {...text('sshUser')} />
              <AccessFields
                value={form}
                onChange={(key: keyof Access, id) => change({ [key]: id })}
                error={(path) => issueFor(nodeProblem, path)}
              />
            </>
          )}
          <TextField
            label={t('slurm.programFolder')}
            hint={t('slurm.programFolderHint')}
            mono
            optional
            {...text('programFolder')}
          />
          <SlurmrestdFields
            form={form}
            onChange={change}
            errorOf={(field) => issueFor(addCluster.problem, field) ?? issueFor(test.problem, field)}
          />
          <div className="sm:col-span-2">
            <CheckField
              label={t('slurmConfig.reuse')}
              hint={t('slurmConfig.reuseHint')}
              checked={form.reuseConfig}
              onChange={(event) => change({ reuseConfig: event.target.checked })}
            />
          </div>
        </div>
      </Panel>
      {test.nodeId && (
        <Panel title={t('slurmConnect.reachingTitle')}>
          <PreflightList
            tests={test.connections}
            expanded={!test.canRunCommands}
            onApproved={() => {
              setTested(settings)
              void test.start({ nodeId: test.nodeId!, ...testInput })
            }}
          />
        </Panel>
      )}
      {test.canRunCommands && test.test && (
        <Panel title={t('slurmConnect.slurmTitle')}>
          <CommandList commands={test.test.queries} isRunning={test.isRunning} />
          {test.test.error && (
            <div className="mt-3">
              <Notice tone="bad" title={t('slurmConnect.testFailed')}>
                {test.test.error}
              </Notice>
            </div>
          )}
        </Panel>
      )}
      {test.error && <Notice tone="bad">{test.error}</Notice>}
      {test.test?.preview && <PreviewPanel preview={test.test.preview} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          type="submit"
          variant={isTested ? 'plain' : 'primary'}
          busy={test.isRunning || addNode.busy || updateNode.busy}
          showReason
          blockedReason={blocked ?? missing}
        >
          {t('slurmConnect.test')}
        </Button>
        <Button
          variant={isTested ? 'primary' : 'plain'}
          busy={addCluster.busy}
          blockedReason={blocked ?? missing ?? (isTested ? null : t('slurmConnect.needTest'))}
          onClick={() => void add()}
        >
          {t('slurmConnect.add')}
        </Button>
        <Button variant="quiet" onClick={reset}>
          {t('slurmConnect.reset')}
        </Button>
      </div>
    </form>
  )
}

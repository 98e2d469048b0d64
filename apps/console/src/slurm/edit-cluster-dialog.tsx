'use client'
import { useState } from 'react'
import { issueFor, noticeOf, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { useFindNode } from '@/slurm/nodes/find-node.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { useInvalidFocus } from '@/ui/hooks/use-invalid-focus.ts'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { missingSlurmrestd, SlurmrestdFields, type SlurmrestdForm, slurmrestdInput } from './connect/slurmrestd-fields.tsx'
import { type ClusterRow, UpdateCluster } from './documents.ts'
import { SaltFields, saltInput } from './scale/salt-fields.tsx'

/** Changes a cluster's name, nodes, region, limit and program folder, and whether its configuration is reused. */
export function EditClusterDialog({ cluster, onClose }: { cluster: ClusterRow; onClose: () => void }) {
  const update = useMutation(UpdateCluster)
  const [form, setForm] = useState({
    name: cluster.name,
    region: cluster.region ?? '',
    programFolder: cluster.programFolder ?? '',
    maxNodes: cluster.maxNodes === null ? '' : String(cluster.maxNodes),
    controllerNodeId: cluster.controllerNode?.name ?? '',
    backupNodeId: cluster.backupNode?.name ?? '',
    saltCredentialId: cluster.saltCredential?.id ?? '',
    saltEauth: cluster.saltEauth ?? '',
    saltCaCertificate: cluster.saltCaCertificate ?? '',
    saltInstalls: cluster.saltInstalls,
  })
  const [slurmrestd, setSlurmrestd] = useState<SlurmrestdForm>({
    slurmrestd: cluster.slurmrestdSocket ? 'SOCKET' : cluster.slurmrestdCredential ? 'URL' : 'NONE',
    slurmrestdSocket: cluster.slurmrestdSocket ?? '',
    slurmrestdCredentialId: cluster.slurmrestdCredential?.id ?? '',
    slurmrestdCaCertificate: cluster.slurmrestdCaCertificate ?? '',
  })
  const [reuseConfig, setReuseConfig] = useState(cluster.reuseConfig)
  const findNode = useFindNode()
  const [nodeProblems, setNodeProblems] = useState<{ controllerNodeId?: string; backupNodeId?: string }>({})
  const fields = useInvalidFocus<HTMLDivElement>(nodeProblems, update.problem)
  const text = (key: Exclude<keyof typeof form, 'saltInstalls'>) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error:
      issueFor(update.problem, key) ?? (key === 'controllerNodeId' || key === 'backupNodeId' ? nodeProblems[key] : undefined),
  })
  async function save() {
    const nodes: { controllerNodeId?: string; backupNodeId?: string | null } = {}
    const problems: typeof nodeProblems = {}
    for (const [key, known] of [
      ['controllerNodeId', cluster.controllerNode?.name],
      ['backupNodeId', cluster.backupNode?.name],
    ] as const) {
      const name = form[key].trim()
      if (name === (known ?? '')) continue
      if (!name && key === 'backupNodeId') nodes.backupNodeId = null
      else {
        const found = await findNode(name)
        if ('id' in found) nodes[key] = found.id
        else problems[key] = found.problem
      }
    }
    setNodeProblems(problems)
    if (Object.keys(problems).length > 0) return
    const outcome = await update.run({
      input: {
        id: cluster.id,
        name: form.name.trim(),
        region: form.region || null,
        programFolder: form.programFolder || null,
        maxNodes: form.maxNodes ? Number(form.maxNodes) : null,
        ...(reuseConfig === cluster.reuseConfig ? {} : { reuseConfig }),
        ...(cluster.kind === 'MANAGED' ? saltInput(form) : {}),
        ...slurmrestdInput(slurmrestd),
        ...nodes,
      },
    })
    if (!outcome.ok) return
    toast('ok', t('slurm.changesSaved', { name: outcome.value.slurmCluster.name }))
    onClose()
  }
  const notice = noticeOf(update.problem, [...Object.keys(form), ...Object.keys(slurmrestd)])
  return (
    <Dialog
      title={t('slurm.editTitle', { name: cluster.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={update.busy}
            showReason
            blockedReason={form.name.trim() ? missingSlurmrestd(slurmrestd) : t('slurmConnect.needName')}
            onClick={() => void save()}
          >
            {t('slurm.save')}
          </Button>
        </>
      }
    >
      <div ref={fields} className="flex flex-col gap-4">
        {notice && <Notice tone="bad">{notice}</Notice>}
        <TextField label={t('slurmConnect.name')} {...text('name')} />
        <TextField label={t('slurm.controllerNode')} hint={t('slurm.nodeHint')} mono {...text('controllerNodeId')} />
        <TextField label={t('slurm.backupNode')} hint={t('slurm.nodeHint')} mono optional {...text('backupNodeId')} />
        <TextField label={t('slurm.region')} optional {...text('region')} />
        <TextField
          label={t('slurm.programFolder')}
          hint={t('slurm.programFolderHint')}
          mono
          optional
          {...text('programFolder')}
        />
        <SlurmrestdFields
          form={slurmrestd}
          onChange={(change) => setSlurmrestd((before) => ({ ...before, ...change }))}
          errorOf={(field) => issueFor(update.problem, field)}
        />
        <TextField label={t('slurm.maxNodes')} type="number" min={1} optional {...text('maxNodes')} />
        {cluster.kind === 'MANAGED' && (
          <SaltFields
            form={form}
            onChange={(change) => setForm((before) => ({ ...before, ...change }))}
            errorOf={(field) => issueFor(update.problem, field)}
          />
        )}
        <CheckField
          label={t('slurmConfig.reuse')}
          hint={t('slurmConfig.reuseHint')}
          checked={reuseConfig}
          onChange={(event) => setReuseConfig(event.target.checked)}
        />
      </div>
    </Dialog>
  )
}

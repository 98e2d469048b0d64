import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { graphql } from '@/graphql/graphql.ts'
import { issueFor, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { CheckField, TextField } from '@/ui/field.tsx'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { Panel } from '@/ui/page.tsx'

const SlurmOfLimit = graphql(`
  query SlurmOfLimit($limit: String!) {
    nodes(filter: { limit: $limit }, first: 20) { edges { node { id slurmNodes { id } } } }
  }
`)
const SlurmOfNode = graphql(`
  query SlurmOfNode($id: ID!) {
    node(id: $id) { __typename ... on ComputeNode { id slurmNodes { id } } }
  }
`)

/** Whether nodes of the target belong to a Slurm cluster. Looks at the first ones only. */
export function useIsSlurmTarget(ids: string[], limit: string): boolean {
  const settled = useSettled(limit.trim())
  const [{ data: one }] = useQuery({ query: SlurmOfNode, variables: { id: ids[0] ?? '' }, pause: ids.length === 0 })
  const [{ data: many }] = useQuery({
    query: SlurmOfLimit,
    variables: { limit: settled },
    pause: ids.length > 0 || settled === '',
  })
  if (ids.length > 0) return one?.node?.__typename === 'ComputeNode' && one.node.slurmNodes.length > 0
  return settled !== '' && (many?.nodes.edges.some(({ node }) => node.slurmNodes.length > 0) ?? false)
}

/** Form values; '' uses the default. */
export const noSlurmOptions = {
  isOn: false,
  batchSize: '',
  floorPercent: '',
  deadlineSeconds: '',
  healthSeconds: '',
  includeReserved: false,
  maintenanceOnly: false,
}
export type SlurmOptions = typeof noSlurmOptions
const numbers = ['batchSize', 'floorPercent', 'deadlineSeconds', 'healthSeconds'] as const
export const slurmOptionPaths = numbers.map((name) => `slurm.${name}`)

/** The options as API input; nothing when the nodes are not drained. */
export function slurmOptionsInput({ isOn, includeReserved, maintenanceOnly, ...texts }: SlurmOptions) {
  if (!isOn) return {}
  const given = numbers.filter((name) => texts[name] !== '').map((name) => [name, Number(texts[name])])
  return { slurm: { ...Object.fromEntries(given), includeReserved, maintenanceOnly } }
}

const presets = { batchSize: 1, floorPercent: 50, deadlineSeconds: 86_400, healthSeconds: 300 }

/** How a run takes nodes of a Slurm cluster out of service. */
export function SlurmOptionsPanel({
  options,
  onChange,
  problem,
}: {
  options: SlurmOptions
  onChange: (options: SlurmOptions) => void
  problem: Problem | null
}) {
  const drainBlocked = useBlockedReason('slurm:node:drain')
  const resumeBlocked = useBlockedReason('slurm:node:resume')
  const blockedReason = drainBlocked ?? resumeBlocked
  const number = (name: (typeof numbers)[number], min: number, max?: number) => (
    <TextField
      key={name}
      type="number"
      min={min}
      max={max}
      label={t(`slurmRun.${name}`)}
      hint={t(`slurmRun.${name}Hint`)}
      placeholder={String(presets[name])}
      value={options[name]}
      error={issueFor(problem, `slurm.${name}`)}
      onChange={(event) => onChange({ ...options, [name]: event.target.value })}
    />
  )
  const check = (name: 'includeReserved' | 'maintenanceOnly') => (
    <CheckField
      label={t(`slurmRun.${name}`)}
      hint={t(`slurmRun.${name}Hint`)}
      checked={options[name]}
      onChange={(event) => onChange({ ...options, [name]: event.target.checked })}
    />
  )
  return (
    <Panel title={t('slurmRun.title')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="sm:col-span-2">
          <CheckField
            label={t('slurmRun.drain')}
            hint={blockedReason ?? t('slurmRun.drainHint')}
            disabled={blockedReason !== null}
            checked={options.isOn}
            onChange={(event) => onChange({ ...options, isOn: event.target.checked })}
          />
        </div>
        {options.isOn && (
          <>
            {number('batchSize', 1, 1000)}
            {number('floorPercent', 0, 100)}
            {number('deadlineSeconds', 0)}
            {number('healthSeconds', 0)}
            {check('maintenanceOnly')}
            {check('includeReserved')}
          </>
        )}
      </div>
    </Panel>
  )
}

import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'
import { integer, someOf } from '../../options.ts'

const SILENCE = graphql(`mutation AlertSilence($input: CreateAlertSilenceInput!) {
  createAlertSilence(input: $input) {
    __typename ... on CreateAlertSilencePayload { alertSilence { endsAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
type Matcher = VariablesOf<typeof SILENCE>['input']['matcher']
const KINDS = [
  'STALE',
  'OFFLINE',
  'RECOVERED',
  'ANOMALY',
  'SEQUENCE_GAP',
  'KEY_CHANGED',
  'KEY_SHARED',
  'FINGERPRINT_CHANGED',
  'CLOCK_SKEW',
  'ACCELERATOR_LOST',
  'ACCELERATOR_COUNT_CHANGED',
  'MASS_OUTAGE',
  'BOOT_STUCK',
  'BOOT_NO_FETCH',
  'BOOT_TOKEN_REFUSED',
  'AUDIT_SINK_BEHIND',
  'OPENCHAMI_OUT_OF_SYNC',
  'SCHEDULE_FAILED',
  'SLURM_CONTROLLER_SILENT',
  'SLURM_NODES_DRAINED',
  'SLURM_NODES_INVALID',
  'SLURM_GRES_MISMATCH',
  'SLURM_RESUME_FAILED',
  'SLURM_SCALE_OUT_FAILED',
] as const
type Options = { reason: string; minutes: number; kind?: (typeof KINDS)[number][]; query?: string; cluster?: string[] }

export const alertSilence = () =>
  new Command('silence')
    .description('silence alerts for a time; alerts that are still open at the end are sent then')
    .requiredOption('--reason <text>', 'reason, shown with the silence')
    .option('--minutes <n>', 'duration', integer, 240)
    .option('--kind <kind...>', KINDS.join(' '), someOf(...KINDS))
    .option('--query <query>', 'only nodes that match: tag = prod and group = front')
    .option('--cluster <cluster...>', 'only these clusters')
    .action(async ({ reason, minutes, kind, query, cluster }: Options) => {
      const matcher: Matcher = { kinds: kind ?? [], query: query ?? null, clusters: cluster ?? [] }
      const endsAt = new Date(Date.now() + minutes * 60_000).toISOString()
      const { createAlertSilence } = await request(SILENCE, { input: { matcher, reason, endsAt } })
      process.stderr.write(`Silenced until ${orThrow(createAlertSilence).alertSilence.endsAt}.\n`)
    })

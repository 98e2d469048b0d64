import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql, type VariablesOf } from '../../../graphql.ts'
import { integer } from '../../../options.ts'
import { readStdin } from '../../../prompt.ts'
import { selectNodes } from '../../../selector.ts'
import { clusterId } from '../find-cluster.ts'
import { followOperation, formatDiff, readVersion } from './follow.ts'
import { printDrift } from './read.ts'

const REASON = 'reason, for the history and the audit log'

export const configImport = () =>
  new Command('import')
    .description('store the files of the hosts as the next version; nothing is written there')
    .argument('<cluster>')
    .option(
      '-n, --nodes <selector>',
      'nodes besides the controllers that have files of their own; default: the nodes of the last import',
    )
    .requiredOption('--reason <text>', REASON)
    .action(async (name: string, { nodes, reason }: { nodes?: string; reason: string }) => {
      const nodeIds = nodes === undefined ? null : (await selectNodes(nodes)).map(({ id }) => id)
      const { importSlurmConfig } = await request(
        graphql(`mutation ClusterConfigImport($input: ImportSlurmConfigInput!) {
          importSlurmConfig(input: $input) {
            __typename ... on ImportSlurmConfigPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { clusterId: await clusterId(name), nodeIds, reason } },
      )
      await followOperation(orThrow(importSlurmConfig).slurmOperation)
      const { version } = await readVersion(name)
      process.stderr.write(`${name} has version ${version.number} of its configuration.\n`)
    })

const KEYS = {
  'slurm.conf': 'slurmConf',
  'gres.conf': 'gresConf',
  'cgroup.conf': 'cgroupConf',
  'topology.conf': 'topologyConf',
} as const
type FileName = keyof typeof KEYS
type FilesInput = { slurmConf: string; gresConf?: string; cgroupConf?: string; topologyConf?: string }

export const configEdit = () =>
  new Command('edit')
    .description('edit a file of the newest version in $VISUAL or $EDITOR, and save it as the next one')
    .argument('<cluster>')
    .option('--file <name>', Object.keys(KEYS).join(', '), 'slurm.conf')
    .option('--from <path>', 'read the new text from a file, or - for standard input')
    .requiredOption('--reason <text>', REASON)
    .action(async (name: string, { file, from, reason }: { file: string; from?: string; reason: string }) => {
      if (!(file in KEYS)) throw new CliError(`--file must be one of ${Object.keys(KEYS).join(', ')}.`, EXIT.usage)
      const { cluster, version } = await readVersion(name)
      const before = version.files.find((one) => one.name === file)?.text ?? ''
      const text =
        from === undefined ? editText(file, before) : from === '-' ? `${await readStdin()}\n` : readFileSync(from, 'utf8')
      if (text === before) {
        process.stderr.write('No changes.\n')
        return
      }
      const files = Object.fromEntries(version.files.map((one) => [KEYS[one.name as FileName], one.text])) as FilesInput
      try {
        await saveConfig(
          { clusterId: cluster.id, basedOn: version.number, files: { ...files, [KEYS[file as FileName]]: text }, reason },
          name,
        )
      } catch (error) {
        if (from !== undefined || !(error instanceof CliError)) throw error
        const kept = path.join(mkdtempSync(path.join(tmpdir(), 'muster-config-')), file)
        writeFileSync(kept, text, { mode: 0o600 })
        throw new CliError(`${error.message}\nYour text is saved in ${kept}.`, error.exitCode)
      }
    })

function editText(name: string, text: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'muster-config-'))
  const file = path.join(directory, name)
  try {
    writeFileSync(file, text, { mode: 0o600 })
    const [editor, ...args] = (process.env.VISUAL || process.env.EDITOR || 'vi').split(' ')
    const { status, error } = spawnSync(editor!, [...args, file], { stdio: 'inherit' })
    if (error || status !== 0)
      throw new CliError(`${editor} exited with ${error?.message ?? status}. Nothing was saved.`, EXIT.failed)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const SAVE = graphql(`mutation ClusterConfigSave($input: SaveSlurmConfigInput!) {
  saveSlurmConfig(input: $input) {
    __typename ... on SaveSlurmConfigPayload { slurmConfigVersion { number } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

/** Saves the next version, and names the next step. */
export async function saveConfig(input: VariablesOf<typeof SAVE>['input'], name: string): Promise<void> {
  const { number } = orThrow((await request(SAVE, { input })).saveSlurmConfig).slurmConfigVersion
  process.stderr.write(`Saved version ${number}. Roll it out with \`muster cluster config rollout ${name} ${number}\`.\n`)
}

const PREVIEW = graphql(`query ClusterConfigPreview($input: PreviewSlurmConfigInput!) {
  previewSlurmConfig(input: $input) {
    __typename
    ... on SlurmConfigPreview {
      release hosts blockedReason fingerprint
      problems { file line severity message }
      diff { file lines { kind text } }
      plan { controllers restartedNodes addedNodes removedNodes lost }
      validation { state host message }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)

async function preview(name: string, number: number | undefined) {
  const { cluster, version } = await readVersion(name, number)
  const found = orThrow((await request(PREVIEW, { input: { clusterId: cluster.id, number: version.number } })).previewSlurmConfig)
  return { cluster, number: version.number, found }
}
type Preview = Awaited<ReturnType<typeof preview>>['found']

const VALIDATIONS: Record<NonNullable<Preview['validation']>['state'], (host: string, message: string) => string> = {
  ACCEPTED: (host) => `Trial start on ${host} passed.`,
  REFUSED: (host, message) => `Trial start on ${host} failed: ${message}`,
  SKIPPED: (host, message) => `Trial start on ${host} was not run: ${message}`,
}

/** What a rollout does, in sentences. */
function planText({ plan, hosts, problems, diff, validation }: Preview): string {
  const daemon = {
    NONE: 'Nothing changes.',
    RECONFIGURE: 'slurmctld reads the files again.',
    RESTART: 'slurmctld restarts; jobs go on.',
  }
  const names = (list: readonly string[]) =>
    `${list.slice(0, 10).join(', ')}${list.length > 10 ? ` and ${list.length - 10} more` : ''}`
  return [
    formatDiff(diff),
    ...problems.map(({ file, line, severity, message }) => `${severity} ${file}${line === null ? '' : `:${line}`}: ${message}`),
    validation && VALIDATIONS[validation.state](validation.host, validation.message ?? ''),
    daemon[plan.controllers],
    plan.addedNodes.length > 0 && `Added nodes: ${names(plan.addedNodes)}.`,
    plan.removedNodes.length > 0 && `Removed nodes: ${names(plan.removedNodes)}.`,
    plan.restartedNodes.length > 0 && `slurmd restarts on ${names(plan.restartedNodes)}; jobs go on.`,
    ...plan.lost,
    plan.controllers !== 'NONE' && `Files are written on ${names(hosts)}.`,
  ]
    .filter((text) => text !== null && text !== false && text !== '')
    .join('\n')
}

const VERSION = 'default: the newest one'

export const configCheck = () =>
  new Command('check')
    .description('problems of a version, and what its rollout would do')
    .argument('<cluster>')
    .argument('[version]', VERSION, integer)
    .option('--trial', 'run a trial start of slurmctld on the controller first')
    .action(async (name: string, wanted: number | undefined, { trial }: { trial?: boolean }) => {
      if (trial) await runTrial(name, wanted)
      const { found } = await preview(name, wanted)
      process.stdout.write(`${planText(found)}\n`)
      if (found.blockedReason) throw new CliError(found.blockedReason, EXIT.failed)
    })

async function runTrial(name: string, wanted: number | undefined): Promise<void> {
  const { cluster, version } = await readVersion(name, wanted)
  const { validateSlurmConfig } = await request(
    graphql(`mutation ClusterConfigValidate($input: ValidateSlurmConfigInput!) {
      validateSlurmConfig(input: $input) {
        __typename ... on ValidateSlurmConfigPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
      }
    }`),
    { input: { clusterId: cluster.id, number: version.number } },
  )
  await followOperation(orThrow(validateSlurmConfig).slurmOperation)
}

export const configRollout = () =>
  new Command('rollout')
    .description('write a version on the hosts and make Slurm use it; a failure restores the files')
    .argument('<cluster>')
    .argument('[version]', VERSION, integer)
    .requiredOption('--reason <text>', REASON)
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, wanted: number | undefined, { reason, yes }: { reason: string; yes?: boolean }) => {
      const { cluster, number, found } = await preview(name, wanted)
      if (found.blockedReason) throw new CliError(found.blockedReason, EXIT.failed)
      await confirmAction(`${planText(found)}\nRoll out version ${number} on ${name}.`, yes)
      const { rolloutSlurmConfig } = await request(
        graphql(`mutation ClusterConfigRollout($input: RolloutSlurmConfigInput!) {
          rolloutSlurmConfig(input: $input) {
            __typename ... on RolloutSlurmConfigPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { clusterId: cluster.id, number, fingerprint: found.fingerprint!, reason } },
      )
      await followOperation(orThrow(rolloutSlurmConfig).slurmOperation)
      process.stderr.write(`${name} uses version ${number}.\n`)
    })

export const configRollback = () =>
  new Command('rollback')
    .description('restore an earlier version and roll it out')
    .argument('<cluster>')
    .argument('[version]', 'default: the one before the version that the hosts have', integer)
    .requiredOption('--reason <text>', REASON)
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, number: number | undefined, { reason, yes }: { reason: string; yes?: boolean }) => {
      await confirmAction(`Restore ${number === undefined ? 'the earlier version' : `version ${number}`} on ${name}.`, yes)
      const { rollbackSlurmConfig } = await request(
        graphql(`mutation ClusterConfigRollback($input: RollbackSlurmConfigInput!) {
          rollbackSlurmConfig(input: $input) {
            __typename ... on RollbackSlurmConfigPayload { slurmOperation { id configNumber } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { clusterId: await clusterId(name), number: number ?? null, reason } },
      )
      const { id, configNumber } = orThrow(rollbackSlurmConfig).slurmOperation
      await followOperation({ id })
      process.stderr.write(`${name} uses version ${configNumber}.\n`)
    })

export const configDrift = () =>
  new Command('drift')
    .description('compare the files of the hosts with the version that was rolled out')
    .argument('<cluster>')
    .option('--last', 'print the last comparison')
    .withOutput()
    .action(async (name: string, { last, ...options }: Output & { last?: boolean }) => {
      if (!last) {
        const { checkSlurmConfigDrift } = await request(
          graphql(`mutation ClusterConfigDriftCheck($input: CheckSlurmConfigDriftInput!) {
            checkSlurmConfigDrift(input: $input) {
              __typename ... on CheckSlurmConfigDriftPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
            }
          }`),
          { input: { clusterId: await clusterId(name) } },
        )
        await followOperation(orThrow(checkSlurmConfigDrift).slurmOperation)
      }
      if (!(await printDrift(name, options))) process.exitCode = EXIT.failed
    })

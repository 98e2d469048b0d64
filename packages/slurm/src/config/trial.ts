import { endLine, setField } from './lines.ts'
import { readSetting } from './model.ts'
import { parseConfig, startsWithKey } from './parse.ts'
import type { ConfigFiles } from './types.ts'

/** Keys that reach beyond a trial start: files and addresses of the running daemon, other services, and programs of the site. And keys that hide or change the messages that show its end. */
const REMOVED = new Set(
  [
    'SlurmctldHost ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr SlurmctldPidFile SlurmctldLogFile',
    'SlurmSchedLogFile SlurmSchedLogLevel SlurmctldSyslogDebug StateSaveLocation AccountingStorageType AccountingStorageHost',
    'AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageEnforce AccountingStoragePass AccountingStoragePort',
    'AccountingStorageUser AccountingStorageParameters JobCompType JobCompHost JobCompLoc JobCompPass JobCompPassScript JobCompPort',
    'JobCompUser JobCompParams SlurmctldPrimaryOnProg SlurmctldPrimaryOffProg SlurmctldPlugstack ResumeProgram ResumeFailProgram',
    'SuspendProgram SuspendTime PowerAction RebootProgram HealthCheckProgram HealthCheckInterval JobSubmitPlugins BurstBufferType',
    'BurstBufferParameters PowerPlugin PowerParameters ExtSensorsType ExtSensorsFreq NodeFeaturesPlugins PrologSlurmctld',
    'EpilogSlurmctld ResvProlog ResvEpilog MailProg AuthAltTypes AuthAltParameters PrioritySiteFactorPlugin',
    'PrioritySiteFactorParameters SlurmctldDebug LogTimeFormat DebugFlags',
  ].flatMap((list) => list.toLowerCase().split(' ')),
)

/**
 * The files for a trial start of slurmctld: without the keys that reach beyond it, and with local addresses of the nodes. The caller adds SlurmctldHost, StateSaveLocation and
 * SlurmctldPidFile.
 * @returns why there can be no trial, or the files and the account that runs slurmctld
 */
export function trialFiles(
  files: ConfigFiles,
): { files: ConfigFiles; slurmUser: string; skippedReason: null } | { files: null; skippedReason: string } {
  const config = parseConfig(files['slurm.conf'])
  const { lines } = config
  const include = lines.find(({ include }) => include !== null)?.include
  if (include) return { files: null, skippedReason: `slurm.conf includes ${include}, which Muster does not store.` }
  const kept = lines.filter(({ fields }) => !REMOVED.has(fields[0]?.key.toLowerCase() ?? ''))
  const texts = kept.map((line) => {
    const isNode = startsWithKey(line, 'NodeName') && line.fields[0]!.value.toLowerCase() !== 'default'
    // Names could not be resolved, for which slurmctld waits some seconds each.
    return isNode ? setField(line, 'NodeAddr', '127.0.0.1') : line.text
  })
  const trial = { ...files, 'slurm.conf': endLine(texts.join('')) }
  return { files: trial, slurmUser: readSetting(config, 'SlurmUser') ?? 'root', skippedReason: null }
}

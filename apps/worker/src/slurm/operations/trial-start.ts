import { randomBytes } from 'node:crypto'
import { CONFIG_FILES, type ConfigFiles, type ConfigHost, type ConfigValidation } from '@muster/core/slurm-configs'
import { trialFiles } from '@muster/slurm/config'
import { configFolder } from './config-files.ts'
import { type ControllerContext, type OperationContext, OperationFailure } from './operation.ts'

/** slurmctld reads 10,000 nodes within seconds. */
const START_SECONDS = 30
/** Two seconds. */
const SETTLED_POLLS = 10
const TIMEOUT_MS = (START_SECONDS + 15) * 1000
const MAX_BYTES = 256 * 1024
const MAX_MESSAGE = 2000
const FOLDER = '/tmp/muster-slurmctld'
/** slurmctld writes less in its first seconds. */
const MIN_BYTES = 16 * 1024 * 1024
/** Errors of the trial's own folder, not of the files. */
const ENVIRONMENT =
  /No space left on device|Disk quota exceeded|Read-only file system|Cannot allocate memory|\/tmp\/muster-slurmctld\.\S*.*Permission denied/
/** Of timeout and unshare when they cannot start the program. */
const NOT_STARTED = ['125', '126', '127']

/** `message` is for the operator; null when slurmctld started. */
type TrialResult = Pick<ConfigValidation, 'state' | 'message'>

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Starts slurmctld in a network namespace of its own, so that it reaches neither nodes nor the running daemon, with a new folder for its
 * files and state. The folder is removed, and the process ended, when it runs, fails, or does not start in time. Needs root.
 */
const script = (files: ConfigFiles, user: string, folder: string, programFolder: string | null, nonce: string): string =>
  [
    ...(programFolder ? [`PATH=${quoted(programFolder)}:${quoted(`${programFolder}/../sbin`)}:$PATH`] : []),
    'PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin',
    'export LC_ALL=C',
    'umask 077',
    `report() { printf '%s %s\\n' ${nonce} "$*"; }`,
    'skip() { report skipped "$*"; exit; }',
    'for program in slurmctld ip unshare timeout base64; do',
    '  command -v "$program" >/dev/null || skip "$program was not found"',
    'done',
    'unshare --net true 2>/dev/null || skip the host permits no network namespaces',
    `dir=$(mktemp -d ${FOLDER}.XXXXXXXXXX) || skip /tmp is not writable`,
    'pid=',
    `trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid"; } 2>/dev/null; rm -rf "$dir"' EXIT`,
    "trap 'exit 1' HUP INT TERM",
    `head -c ${MIN_BYTES} /dev/zero > "$dir/space" && rm "$dir/space" || skip "/tmp has no ${MIN_BYTES / 1024 / 1024} MiB left"`,
    // Other files of the folder belong to plugins.
    `for file in ${quoted(folder)}/*; do [ -f "$file" ] && ln -s "$file" "$dir/"; done`,
    ...CONFIG_FILES.flatMap((name) => [
      `rm -f "$dir/${name}"`,
      ...(files[name] === undefined
        ? []
        : [
            `base64 -d > "$dir/${name}" <<'END' || skip "${name} could not be written in /tmp"`,
            ...Buffer.from(files[name])
              .toString('base64')
              .match(/.{1,1000}/g)!,
            'END',
          ]),
    ]),
    'mkdir "$dir/state" || skip no folder could be created in /tmp',
    `printf 'SlurmctldHost=%s(127.0.0.1)\\nStateSaveLocation=%s/state\\nSlurmctldPidFile=%s/pid\\n' "$(hostname -s)" "$dir" "$dir" >> "$dir/slurm.conf" || skip slurm.conf could not be written in /tmp`,
    `user=${quoted(user)}`,
    // slurmctld itself refuses an account that does not exist.
    'id -u "$user" >/dev/null 2>&1 && { chown -R "$user" "$dir" || skip "the files could not be given to $user"; }',
    // Without an address, the resolver rejects even numeric ones.
    `isolated='ip link set lo up; ip addr add 192.0.2.1/32 dev lo; exec "$@"'`,
    `unshare --net sh -c "$isolated" sh timeout -s KILL ${START_SECONDS} slurmctld -D -c -i -f "$dir/slurm.conf" > "$dir/log" 2>&1 < /dev/null &`,
    'pid=$!',
    'running=0',
    'while kill -0 "$pid" 2>/dev/null; do',
    `  grep -q 'Running as primary controller' "$dir/log" && running=$((running + 1))`,
    // The last plugins are loaded after this message.
    `  [ "$running" -lt ${SETTLED_POLLS} ] || { report accepted; exit; }`,
    '  sleep 0.2',
    'done',
    'wait "$pid"',
    'code=$?',
    'pid=',
    'report exited "$code"',
    `grep -E 'fatal|error' "$dir/log" | tail -n 40 | head -c 8000 | while IFS= read -r line; do report log "$line"; done`,
    '',
  ].join('\n')

/**
 * Lets the slurmctld of a controller's host try files, apart from the running one.
 * @param folder of the configuration on the host; its other files are used, too
 * @throws SshFailure
 */
export async function tryStart(
  { session, programFolder, signal }: ControllerContext,
  files: ConfigFiles,
  folder: string,
): Promise<TrialResult> {
  const trial = trialFiles(files)
  if (trial.files === null) return { state: 'SKIPPED', message: trial.skippedReason }
  const nonce = randomBytes(16).toString('hex')
  const id = await session.exec('id -u', { timeoutMs: TIMEOUT_MS, signal })
  const shell = id.stdout.toString('utf8').trim() === '0' ? 'sh -s' : 'sudo -n sh -s'
  const stdin = script(trial.files, trial.slurmUser, folder, programFolder, nonce)
  const ran = await session.exec(shell, { stdin, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal })
  const lines = ran.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(`${nonce} `) ? [line.slice(nonce.length + 1)] : []))
  const [answer = ''] = lines
  if (answer === 'accepted') return { state: 'ACCEPTED', message: null }
  if (answer.startsWith('skipped ')) return { state: 'SKIPPED', message: `${answer.slice('skipped '.length)}.` }
  if (!answer.startsWith('exited '))
    return { state: 'SKIPPED', message: ran.timedOut ? 'No answer in time.' : 'The account may not become root with sudo.' }
  return refusal(lines.slice(1), answer.slice('exited '.length))
}

function refusal(log: string[], code: string): TrialResult {
  const messages = log.map((line) => line.replace(/^log (\[[^\]]*\] )?([\w-]+: )?/, ''))
  const isFatal = messages.at(-1)?.includes('fatal') ?? false
  if (code === '137' && !isFatal) return { state: 'SKIPPED', message: `slurmctld did not start within ${START_SECONDS} s.` }
  // The errors before the fatal one have the names.
  const shown = [...new Set(messages)].slice(-4).join('\n').slice(0, MAX_MESSAGE)
  if (NOT_STARTED.includes(code) || messages.slice(-4).some((message) => ENVIRONMENT.test(message)))
    return { state: 'SKIPPED', message: shown || `slurmctld could not be started (${code}).` }
  return { state: 'REFUSED', message: shown || 'slurmctld ended without a message.' }
}

/**
 * Tries a version on a controller's host, and shows the result.
 * @param isAdvisory a refusal is only shown
 * @throws OperationFailure slurmctld refuses the files
 */
export async function validateConfig(
  op: OperationContext,
  { nodeId, name }: ConfigHost,
  { number, files }: { number: number; files: ConfigFiles },
  isAdvisory = false,
): Promise<void> {
  await op.report(`Let slurmctld of ${name} try version ${number}.`)
  const { state, message } = await op.onNode(nodeId, (controller) => tryStart(controller, files, configFolder(op.cluster)))
  await op.updateNodes([{ name, phase: state, message, isFailed: state === 'REFUSED' && !isAdvisory }])
  if (state === 'REFUSED') {
    const refusal = `slurmctld of ${name} refuses version ${number}.`
    if (!isAdvisory) throw new OperationFailure(`${refusal} Nothing was written. ${message}`)
    await op.report(`${refusal} It is written, because it restores an earlier state. ${message}`)
  }
  if (state === 'SKIPPED') await op.report(`slurmctld of ${name} could not try version ${number}: ${message}`)
}

import { Command, CommanderError } from 'commander'
import { agentAllow } from './commands/agent/allow.ts'
import { agentApprove } from './commands/agent/approve.ts'
import { agentDeregister } from './commands/agent/deregister.ts'
import { agentDrain } from './commands/agent/drain.ts'
import { agentList } from './commands/agent/list.ts'
import { agentResetSequence } from './commands/agent/reset-sequence.ts'
import { agentResume } from './commands/agent/resume.ts'
import { agentRevoke } from './commands/agent/revoke.ts'
import { agentSettingsGet } from './commands/agent-settings/get.ts'
import { agentSettingsSet } from './commands/agent-settings/set.ts'
import { agentTokenCreate } from './commands/agent-token/create.ts'
import { agentTokenList } from './commands/agent-token/list.ts'
import { agentTokenRevoke } from './commands/agent-token/revoke.ts'
import { alertAck } from './commands/alert/ack.ts'
import { alertEnd } from './commands/alert/end.ts'
import { alertList } from './commands/alert/list.ts'
import { alertSilence } from './commands/alert/silence.ts'
import { alertSilences } from './commands/alert/silences.ts'
import { alertUnsilence } from './commands/alert/unsilence.ts'
import { alertRouteAdd } from './commands/alert-route/add.ts'
import { alertRouteDelete } from './commands/alert-route/delete.ts'
import { alertRouteList } from './commands/alert-route/list.ts'
import { alertRouteTest } from './commands/alert-route/test.ts'
import { alertRouteUpdate } from './commands/alert-route/update.ts'
import { artifactGet } from './commands/artifact/get.ts'
import { artifactList } from './commands/artifact/list.ts'
import { bundleDelete } from './commands/bundle/delete.ts'
import { bundleList } from './commands/bundle/list.ts'
import { cancel } from './commands/cancel.ts'
import { credentialAdd } from './commands/credential/add.ts'
import { credentialDelete } from './commands/credential/delete.ts'
import { credentialGet } from './commands/credential/get.ts'
import { credentialList } from './commands/credential/list.ts'
import { credentialRotateKey } from './commands/credential/rotate-key.ts'
import { credentialTest } from './commands/credential/test.ts'
import { credentialUpdate } from './commands/credential/update.ts'
import { groupCreate } from './commands/group/create.ts'
import { groupDelete } from './commands/group/delete.ts'
import { groupGet } from './commands/group/get.ts'
import { groupList } from './commands/group/list.ts'
import { groupAddNodes, groupRemoveNodes } from './commands/group/set-nodes.ts'
import { groupUpdate } from './commands/group/update.ts'
import { login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { logs } from './commands/logs.ts'
import { nodeAdd } from './commands/node/add.ts'
import { nodeApprove } from './commands/node/approve.ts'
import { nodeDecommission } from './commands/node/decommission.ts'
import { nodeDiff } from './commands/node/diff.ts'
import { nodeDiscover } from './commands/node/discover.ts'
import { nodeFacts } from './commands/node/facts.ts'
import { nodeGet } from './commands/node/get.ts'
import { nodeList } from './commands/node/list.ts'
import { nodeMaintenance } from './commands/node/maintenance.ts'
import { nodePurge } from './commands/node/purge.ts'
import { nodeRecommission } from './commands/node/recommission.ts'
import { nodeTest } from './commands/node/test.ts'
import { nodeUnlock } from './commands/node/unlock.ts'
import { nodeUpdate } from './commands/node/update.ts'
import { queueLimit } from './commands/queue/limit.ts'
import { queuePause } from './commands/queue/pause.ts'
import { queueResume } from './commands/queue/resume.ts'
import { queueStatus } from './commands/queue/status.ts'
import { retentionSet } from './commands/retention/set.ts'
import { retentionShow } from './commands/retention/show.ts'
import { retry } from './commands/retry.ts'
import { run } from './commands/run.ts'
import { runs } from './commands/runs.ts'
import { secretStoreAdd } from './commands/secret-store/add.ts'
import { secretStoreDelete } from './commands/secret-store/delete.ts'
import { secretStoreList } from './commands/secret-store/list.ts'
import { secretStoreUpdate } from './commands/secret-store/update.ts'
import { templateArchive } from './commands/template/archive.ts'
import { templateCreate } from './commands/template/create.ts'
import { templateGet } from './commands/template/get.ts'
import { templateHistory } from './commands/template/history.ts'
import { templateList } from './commands/template/list.ts'
import { templateRestore } from './commands/template/restore.ts'
import { templateUpdate } from './commands/template/update.ts'
import { top } from './commands/top.ts'
import { varsDiff } from './commands/vars/diff.ts'
import { varsEdit } from './commands/vars/edit.ts'
import { varsExplain } from './commands/vars/explain.ts'
import { varsGet } from './commands/vars/get.ts'
import { varsHistory } from './commands/vars/history.ts'
import { varsImpact } from './commands/vars/impact.ts'
import { varsMerge } from './commands/vars/merge.ts'
import { varsRestore } from './commands/vars/restore.ts'
import { varsSecret } from './commands/vars/secret.ts'
import { varsSet } from './commands/vars/set.ts'
import { whoami } from './commands/whoami.ts'
import { workerDrain } from './commands/worker/drain.ts'
import { workerList } from './commands/worker/list.ts'
import { workerUndrain } from './commands/worker/undrain.ts'
import { CliError, EXIT } from './errors.ts'

/** The whole command line. Kept apart from running it, so that tests and the documentation can walk it. */
export function program(): Command {
  const muster = new Command('muster')
    .description('Muster on the command line: nodes, groups, credentials, runs and their logs.')
    .version('0.1.0')
    // Options behind a command are that command's, also where it has commands of its own.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExit codes: 0 ok, 1 failed, 2 usage, 3 not signed in or not allowed, 4 not found, 5 refused by the server, 6 server not reached;\na followed run that did not succeed: 10 PARTIAL, 11 FAILED, 12 CANCELED, 13 TIMED_OUT, 14 ERROR; 130 Ctrl-C.',
    )
  for (const command of [login(), logout(), whoami(), run(), runs(), logs(), cancel(), retry(), top()]) muster.addCommand(command)
  muster.addCommand(
    noun('node', 'machines', [
      nodeList(),
      nodeGet(),
      nodeAdd(),
      nodeUpdate(),
      nodeTest(),
      nodeApprove(),
      nodeDiscover(),
      nodeFacts(),
      nodeDiff(),
      nodeMaintenance(),
      nodeDecommission(),
      nodeRecommission(),
      nodePurge(),
      nodeUnlock(),
    ]),
  )
  muster.addCommand(
    noun('group', 'groups of nodes', [
      groupList(),
      groupGet(),
      groupCreate(),
      groupUpdate(),
      groupAddNodes(),
      groupRemoveNodes(),
      groupDelete(),
    ]),
  )
  // `muster templates`, by itself, lists them.
  muster.addCommand(
    noun('template', 'playbooks with their settings, ready to be run', [
      templateGet(),
      templateCreate(),
      templateUpdate(),
      templateArchive(),
      templateRestore(),
      templateHistory(),
    ])
      .addCommand(templateList(), { isDefault: true })
      .alias('templates'),
  )
  muster.addCommand(
    noun('credential', 'keys and passwords to log in with', [
      credentialList(),
      credentialGet(),
      credentialAdd(),
      credentialUpdate(),
      credentialTest(),
      credentialRotateKey(),
      credentialDelete(),
    ]),
  )
  muster.addCommand(
    noun('secret-store', 'HashiCorp Vault or OpenBao, where credentials may keep their secrets', [
      secretStoreList(),
      secretStoreAdd(),
      secretStoreUpdate(),
      secretStoreDelete(),
    ]),
  )
  muster.addCommand(
    noun('vars', 'variables of all nodes, groups and nodes', [
      varsGet(),
      varsSet(),
      varsEdit(),
      varsExplain(),
      varsDiff(),
      varsImpact(),
      varsHistory(),
      varsRestore(),
      varsSecret(),
      varsMerge(),
    ]),
  )
  muster.addCommand(
    noun('agent', 'programs on nodes that tell us how they are', [
      agentList(),
      // `muster agent token NODE`, by itself, makes one; `muster agent settings` shows them.
      noun('token', 'what lets an agent in, once', [agentTokenList(), agentTokenRevoke()]).addCommand(agentTokenCreate(), {
        isDefault: true,
      }),
      agentAllow(),
      agentApprove(),
      agentRevoke(),
      agentDrain(),
      agentResume(),
      agentResetSequence(),
      agentDeregister(),
      noun('settings', 'how often agents beat, and how their silence is judged', [agentSettingsSet()]).addCommand(
        agentSettingsGet(),
        { isDefault: true },
      ),
    ]),
  )
  muster.addCommand(
    noun('alert', 'what people should know of', [
      alertList(),
      alertAck(),
      alertEnd(),
      alertSilence(),
      alertSilences(),
      alertUnsilence(),
    ]),
  )
  muster.addCommand(
    noun('alert-route', 'ways on which alerts reach people', [
      alertRouteList(),
      alertRouteAdd(),
      alertRouteUpdate(),
      alertRouteTest(),
      alertRouteDelete(),
    ]),
  )
  muster.addCommand(noun('artifact', 'files that runs left', [artifactList(), artifactGet()]))
  muster.addCommand(noun('bundle', 'playbooks that were uploaded for templates', [bundleList(), bundleDelete()]))
  muster.addCommand(noun('retention', 'for how long logs, artifacts and runs are kept', [retentionShow(), retentionSet()]))
  muster.addCommand(noun('queue', 'runs that have not begun', [queueStatus(), queuePause(), queueResume(), queueLimit()]))
  muster.addCommand(noun('worker', 'processes that execute runs', [workerList(), workerDrain(), workerUndrain()]))
  return muster
}

function noun(name: string, description: string, verbs: Command[]): Command {
  const command = new Command(name).description(description)
  for (const verb of verbs) command.addCommand(verb)
  return command
}

/** @returns the exit code; whatever goes wrong is one message on stderr, never a stack trace */
export async function main(argv: string[]): Promise<number> {
  try {
    const muster = program()
    for (const command of walk(muster)) command.exitOverride().showHelpAfterError('(see --help)')
    await muster.parseAsync(argv, { from: 'user' })
    return Number(process.exitCode ?? EXIT.ok)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (error instanceof CliError) {
      process.stderr.write(`${error.message}\n`)
      return error.exitCode
    }
    process.stderr.write(`muster: ${error instanceof Error ? error.message : error}\n`)
    return EXIT.failed
  }
}

function* walk(command: Command): Generator<Command> {
  yield command
  for (const child of command.commands) yield* walk(child)
}

if (import.meta.main) {
  // A reader that goes away (`muster logs | head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))
  process.exitCode = await main(process.argv.slice(2))
}

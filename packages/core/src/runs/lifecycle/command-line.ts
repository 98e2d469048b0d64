import type { JobRun } from '../tables.ts'

type Settings = Pick<JobRun, 'forks' | 'become' | 'checkMode' | 'diffMode' | 'verbosity' | 'jobTags' | 'skipTags'>

/** Arguments of ansible-playbook for a run, as the worker uses them and a preview shows them. They never contain passwords. */
export function ansibleArguments(run: Settings, files: { inventory: string; extraVars: string; playbook: string }): string[] {
  return [
    ...['-i', files.inventory, '-e', `@${files.extraVars}`, '--forks', String(run.forks)],
    ...(run.become ? ['--become'] : []),
    ...(run.checkMode ? ['--check'] : []),
    ...(run.diffMode ? ['--diff'] : []),
    ...(run.jobTags.length > 0 ? [`--tags=${run.jobTags.join(',')}`] : []),
    ...(run.skipTags.length > 0 ? [`--skip-tags=${run.skipTags.join(',')}`] : []),
    ...(run.verbosity > 0 ? [`-${'v'.repeat(run.verbosity)}`] : []),
    files.playbook,
  ]
}

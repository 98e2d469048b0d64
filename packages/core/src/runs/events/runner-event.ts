import { v5 as uuidv5 } from 'uuid'
import type { JobRun, JobRunEvent } from '../tables.ts'

/** Event names of ansible-runner by our event kinds. Kinds that it does not have become `verbose`, which carries only lines. */
const NAMES: Record<string, string> = {
  run_start: 'playbook_on_start',
  play_start: 'playbook_on_play_start',
  task_start: 'playbook_on_task_start',
  host_start: 'runner_on_start',
  ok: 'runner_on_ok',
  failed: 'runner_on_failed',
  unreachable: 'runner_on_unreachable',
  skipped: 'runner_on_skipped',
  item_ok: 'runner_item_on_ok',
  item_failed: 'runner_item_on_failed',
  item_skipped: 'runner_item_on_skipped',
  retry: 'runner_retry',
  diff: 'playbook_on_file_diff',
  stats: 'playbook_on_stats',
}

/**
 * Converts an event to the format of ansible-runner's job events (its documentation: "Runner Artifact Job Events"). Lines count
 * from 0, `end_line` is exclusive, and `event_data.res` holds the result.
 */
export function toRunnerEvent(event: JobRunEvent, run: Pick<JobRun, 'id' | 'playbookPath'>) {
  const start = event.startLine - 1
  const isStats = event.kind === 'stats'
  return {
    uuid: uuidv5(String(event.seq), run.id),
    counter: event.seq,
    stdout: event.stdout ?? '',
    start_line: start,
    end_line: start + event.lineCount,
    runner_ident: run.id,
    event: NAMES[event.kind] ?? 'verbose',
    created: event.createdAt.toISOString(),
    event_data: {
      playbook: run.playbookPath,
      ...(event.play === null ? {} : { play: event.play }),
      ...(event.task === null ? {} : { task: event.task, task_uuid: event.taskUuid, task_action: event.action }),
      ...(event.host === null ? {} : { host: event.host, remote_addr: event.host }),
      ...(event.durationMs === null ? {} : { duration: event.durationMs / 1000 }),
      ...(isStats ? figures(event.result) : event.result === null ? {} : { res: event.result }),
    },
  }
}

/** Converts figures by host to figures by counter, as ansible-runner has them. */
function figures(result: unknown): Record<string, Record<string, number>> {
  const out: Record<string, Record<string, number>> = {}
  for (const [host, counts] of Object.entries((result ?? {}) as Record<string, Record<string, number>>))
    for (const [figure, count] of Object.entries(counts)) {
      const name = figure === 'unreachable' ? 'dark' : figure
      if (count > 0) out[name] = { ...out[name], [host]: count }
    }
  return out
}

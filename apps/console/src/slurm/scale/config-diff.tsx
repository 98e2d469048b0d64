import { t } from '@/messages/index.ts'
import type { ScaleOutPreview } from './documents.ts'

type Lines = ScaleOutPreview['diff'][number]['lines']
/** Unchanged lines that are shown beside a change. */
const CONTEXT = 2

/** The indexes of changed lines and of the lines beside them. */
function shownIndexes(lines: Lines): number[] {
  const shown = new Set<number>()
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'SAME')
      for (let i = Math.max(0, index - CONTEXT); i <= Math.min(lines.length - 1, index + CONTEXT); i++) shown.add(i)
  return [...shown].sort((a, b) => a - b)
}

const styles = { ADDED: 'text-ok', REMOVED: 'text-bad', SAME: 'text-muted' }
const signs = { ADDED: '+', REMOVED: '-', SAME: ' ' }

/** The lines of the configuration that change, and what Slurm does. */
export function ConfigDiff({ diff, plan }: Pick<ScaleOutPreview, 'diff' | 'plan'>) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-xs font-medium text-muted">
        {t('slurmScale.diff')}
        {plan && plan.controllers !== 'NONE' ? ` · ${t(`slurmControllerChange.${plan.controllers}`)}` : ''}
      </h3>
      {diff.map(({ file, lines }) => (
        <section
          key={file}
          className="max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
          tabIndex={0}
          aria-label={file}
        >
          <p className="text-muted">{file}</p>
          {shownIndexes(lines).map((index, i, all) => {
            const { kind, text } = lines[index]!
            return (
              <p key={index} className={`w-max whitespace-pre ${styles[kind]}`}>
                {i > 0 && all[i - 1] !== index - 1 && <span className="block text-faint">⋯</span>}
                {signs[kind]} {text}
              </p>
            )
          })}
        </section>
      ))}
      {plan?.lost.map((sentence) => (
        <p key={sentence} className="text-xs text-warn">
          {sentence}
        </p>
      ))}
    </section>
  )
}

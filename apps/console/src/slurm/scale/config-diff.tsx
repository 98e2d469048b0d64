import { t } from '@/messages/index.ts'
import type { ScaleOutPreview } from './documents.ts'

/** The lines of the configuration that change, and what Slurm does. */
export function ConfigDiff({ diff, plan }: Pick<ScaleOutPreview, 'diff' | 'plan'>) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-xs font-medium text-muted">
        {t('slurmScale.diff')}
        {plan && plan.controllers !== 'NONE' ? ` · ${t(`slurmControllerChange.${plan.controllers}`)}` : ''}
      </h3>
      {diff.map(({ file, lines }) => (
        <div key={file} className="overflow-x-auto rounded-md bg-sunken p-2 font-mono text-xs">
          <p className="text-muted">{file}</p>
          {lines.map(({ kind, text }, index) =>
            kind === 'SAME' ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
              <p key={index} className={`whitespace-pre ${kind === 'ADDED' ? 'text-ok' : 'text-bad'}`}>
                {kind === 'ADDED' ? '+' : '-'} {text}
              </p>
            ),
          )}
        </div>
      ))}
      {plan?.lost.map((sentence) => (
        <p key={sentence} className="text-xs text-warn">
          {sentence}
        </p>
      ))}
    </section>
  )
}

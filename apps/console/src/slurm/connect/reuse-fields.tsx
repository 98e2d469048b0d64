import { t } from '@/messages/index.ts'
import { CheckField } from '@/ui/field.tsx'

export type Reuse = { reuseConfig: boolean; reuseMungeKey: boolean; reuseDatabase: boolean }
export const reuseAll: Reuse = { reuseConfig: true, reuseMungeKey: true, reuseDatabase: true }

const choices = [
  ['reuseConfig', 'slurm.reuseConfig'],
  ['reuseMungeKey', 'slurm.reuseMunge'],
  ['reuseDatabase', 'slurm.reuseDatabase'],
] as const

/** Which objects of an existing cluster Muster never writes. */
export function ReuseFields({ value, onChange }: { value: Reuse; onChange: (change: Partial<Reuse>) => void }) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{t('slurm.reuse')}</legend>
      {choices.map(([key, label]) => (
        <CheckField
          key={key}
          label={t(label)}
          checked={value[key]}
          onChange={(event) => onChange({ [key]: event.target.checked })}
        />
      ))}
      <p className="text-xs text-muted">{t('slurm.reuseHint')}</p>
    </fieldset>
  )
}

'use client'
import { Plus, Trash2 } from 'lucide-react'
import { issuesWithin, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { type BlackoutForm, newBlackout } from './form-values.ts'

type Props = { value: BlackoutForm[]; onChange: (value: BlackoutForm[]) => void; problem: Problem | null }

/** Periods in which a schedule starts nothing. */
export function BlackoutFields({ value, onChange, problem }: Props) {
  const change = (index: number, fields: Partial<BlackoutForm>) =>
    onChange(value.map((each, i) => (i === index ? { ...each, ...fields } : each)))
  return (
    <div className="flex flex-col gap-3">
      {value.map((blackout, i) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity before they are saved
          key={i}
          className="grid gap-3 rounded-md border border-line p-3 sm:grid-cols-2"
        >
          <legend className="sr-only">{t('schedule.blackoutNumber', { number: i + 1 })}</legend>
          <TextField
            label={t('schedule.blackoutName')}
            value={blackout.name}
            onChange={(e) => change(i, { name: e.target.value })}
          />
          <SelectField
            label={t('schedule.blackoutKind')}
            value={blackout.isRecurring ? 'rule' : 'once'}
            onChange={(e) => change(i, { isRecurring: e.target.value === 'rule' })}
          >
            <option value="rule">{t('schedule.blackoutRecurring')}</option>
            <option value="once">{t('schedule.blackoutOnce')}</option>
          </SelectField>
          {blackout.isRecurring ? (
            <>
              <TextField
                mono
                label={t('schedule.blackoutRule')}
                value={blackout.rule}
                onChange={(e) => change(i, { rule: e.target.value })}
              />
              <TextField
                type="number"
                min={1}
                label={t('schedule.blackoutMinutes')}
                value={blackout.minutes}
                onChange={(e) => change(i, { minutes: e.target.value })}
              />
            </>
          ) : (
            <>
              <TextField
                type="datetime-local"
                label={t('schedule.blackoutFrom')}
                value={blackout.from}
                onChange={(e) => change(i, { from: e.target.value })}
              />
              <TextField
                type="datetime-local"
                label={t('schedule.blackoutTo')}
                value={blackout.to}
                onChange={(e) => change(i, { to: e.target.value })}
              />
            </>
          )}
          {issuesWithin(problem, `blackouts.${i}`) && (
            <p role="alert" className="text-xs whitespace-pre-line text-bad sm:col-span-2">
              {issuesWithin(problem, `blackouts.${i}`)}
            </p>
          )}
          <div className="sm:col-span-2">
            <Button
              variant="quiet"
              icon={<Trash2 aria-hidden />}
              onClick={() => onChange(value.filter((_, index) => index !== i))}
            >
              {t('schedule.removeBlackout')}
            </Button>
          </div>
        </fieldset>
      ))}
      <div>
        <Button icon={<Plus aria-hidden />} onClick={() => onChange([...value, newBlackout()])}>
          {t('schedule.addBlackout')}
        </Button>
      </div>
    </div>
  )
}

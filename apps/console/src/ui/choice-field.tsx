'use client'
import clsx from 'clsx'
import { useId, useState } from 'react'
import { formatList } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'

export type Choice = { id: string; label: string }

/** More choices are reached only with the search: thousands of checkboxes are slow. */
const MAX_SHOWN = 50
/** Fewer choices need no search. */
const MIN_SEARCHED = 8

/** Checkboxes for several of many choices, with a search. */
export function ChoiceField({
  label,
  hint,
  error,
  optional,
  choices,
  value,
  onChange,
}: {
  label: string
  hint?: string
  error?: string
  optional?: boolean
  choices: Choice[]
  /** IDs of the selected choices. */
  value: string[]
  onChange: (ids: string[]) => void
}) {
  const [text, setText] = useState('')
  const noteId = useId()
  const search = text.trim().toLowerCase()
  const matching = choices.filter((choice) => choice.label.toLowerCase().includes(search))
  const selected = choices.filter(({ id }) => value.includes(id))
  return (
    <fieldset className="flex min-w-0 flex-col gap-1" aria-describedby={error || hint ? noteId : undefined}>
      <legend className="mb-1 flex w-full items-baseline justify-between text-sm font-medium">
        {label}
        {optional && <span className="text-xs font-normal text-faint">{t('common.optional')}</span>}
      </legend>
      {choices.length > MIN_SEARCHED && (
        <input
          type="search"
          aria-label={t('choice.search', { label })}
          placeholder={t('choice.search', { label })}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-8 w-full rounded-md border border-line-strong bg-panel px-2.5 text-sm text-text placeholder:text-faint"
        />
      )}
      <div className="max-h-40 overflow-auto rounded-md border border-line-strong px-2.5 py-1.5">
        {matching.length === 0 && <p className="text-sm text-muted">{t(search ? 'choice.noMatch' : 'choice.none')}</p>}
        {matching.slice(0, MAX_SHOWN).map(({ id, label }) => (
          <label key={id} className="flex items-start gap-2 py-0.5 text-sm">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={value.includes(id)}
              onChange={({ target }) => onChange(target.checked ? [...value, id] : value.filter((each) => each !== id))}
            />
            <span className="min-w-0 break-words">{label}</span>
          </label>
        ))}
        {matching.length > MAX_SHOWN && (
          <p className="text-xs text-muted">{t('choice.more', { count: formatNumber(matching.length - MAX_SHOWN) })}</p>
        )}
      </div>
      {selected.length > 0 && (
        <p className="text-xs break-words text-muted">
          {t('choice.selected', { names: formatList(selected.map((choice) => choice.label)) })}
        </p>
      )}
      {(error || hint) && (
        <p
          id={noteId}
          className={clsx('text-xs', error ? 'whitespace-pre-line text-bad' : 'text-muted')}
          role={error ? 'alert' : undefined}
        >
          {error ?? hint}
        </p>
      )}
    </fieldset>
  )
}

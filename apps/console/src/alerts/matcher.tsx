'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { alertKinds, severities } from './badges.tsx'
import type { Matcher } from './documents.ts'

export const anyAlert: Matcher = { kinds: [], severities: [], query: null, clusters: [] }

/** A summary of a matcher. */
export function MatcherText({ matcher }: { matcher: Matcher }) {
  const parts = [
    ...matcher.severities.map((severity) => t(`alertSeverity.${severity}`)),
    ...matcher.kinds.map((kind) => t(`alertKind.${kind}`)),
    ...matcher.clusters,
    ...(matcher.query ? [matcher.query] : []),
  ]
  if (parts.length === 0) return <span className="text-muted">{t('matcher.all')}</span>
  return (
    <span className="flex flex-wrap gap-1">
      {parts.map((part) => (
        <Badge key={part}>
          <span className="truncate">{part}</span>
        </Badge>
      ))}
    </span>
  )
}

function Choices<T extends string>({
  legend,
  all,
  chosen,
  label,
  onChange,
}: {
  legend: string
  all: readonly T[]
  chosen: readonly T[]
  label: (value: T) => string
  onChange: (chosen: T[]) => void
}) {
  return (
    <fieldset>
      <legend className="pb-1 text-sm font-medium">{legend}</legend>
      <div className="grid gap-1 sm:grid-cols-2">
        {all.map((value) => (
          <CheckField
            key={value}
            label={label(value)}
            checked={chosen.includes(value)}
            onChange={() => onChange(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])}
          />
        ))}
      </div>
    </fieldset>
  )
}

/** Fields of a matcher; an empty field matches any. */
export function MatcherFields({
  value,
  onChange,
  error,
}: {
  value: Matcher
  onChange: (matcher: Matcher) => void
  error: (path: string) => string | undefined
}) {
  // Splitting while typing would remove the trailing comma.
  const [clusters, setClusters] = useState(value.clusters.join(', '))
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line p-3">
      <p className="text-xs text-muted">{t('matcher.hint')}</p>
      <Choices
        legend={t('alerts.severity')}
        all={severities}
        chosen={value.severities}
        label={(severity) => t(`alertSeverity.${severity}`)}
        onChange={(chosen) => onChange({ ...value, severities: chosen })}
      />
      <Choices
        legend={t('alerts.kind')}
        all={alertKinds}
        chosen={value.kinds}
        label={(kind) => t(`alertKind.${kind}`)}
        onChange={(chosen) => onChange({ ...value, kinds: chosen })}
      />
      <TextField
        label={t('matcher.query')}
        hint={t('matcher.queryHint')}
        optional
        mono
        value={value.query ?? ''}
        onChange={(event) => onChange({ ...value, query: event.target.value || null })}
        error={error('matcher.query')}
      />
      <TextField
        label={t('matcher.clusters')}
        hint={t('matcher.clustersHint')}
        optional
        value={clusters}
        onChange={(event) => {
          setClusters(event.target.value)
          onChange({ ...value, clusters: event.target.value.split(/[\s,]+/).filter(Boolean) })
        }}
        error={error('matcher.clusters')}
      />
    </div>
  )
}

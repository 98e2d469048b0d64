// Handwritten SQL, prepared once per connection: these two statements process thousands of heartbeats per second.

// date_part, because extract computes in numeric and takes ten times as long.
const GIVEN = `
  select g.*, coalesce($1::timestamptz, now()) as now, to_timestamp(g.time_ms / 1000.0) as agent_time,
    round(g.time_ms - date_part('epoch', coalesce($1::timestamptz, now())) * 1000) as skew_ms,
    to_timestamp(coalesce(g.measured_ms, g.time_ms) / 1000.0) as measured_at
  from unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::float8[], $7::boolean[], $8::text[], $9::text[], $10::text[],
    $11::integer[], $12::real[], $13::real[], $14::integer[], $15::integer[], $16::integer[], $17::text[], $18::text[], $19::text[], $20::float8[])
  with ordinality as g(node_id, key_id, epoch, sequence, time_ms, is_in_bounds, health, slurm_state, reported_drain,
    running_jobs, cpu_percent, memory_percent, gpus_total, gpus_available, lost, fingerprint, version, report, measured_ms, place)`

const IS_ALLOWED = `k.status = 'ALLOWED' and k.node_id = i.node_id and a.state <> 'DEREGISTERED'`
const IS_IN_TIME = `abs(i.skew_ms) <= 300000`
const isGrowing = (last: string) => `((${last}.sequence is null or (i.epoch, i.sequence) > (${last}.boot_epoch, ${last}.sequence))
  and (${last}.not_before is null or i.agent_time > ${last}.not_before))`
const IS_SAME_MACHINE = `(a.fingerprint is null or i.fingerprint is null or a.fingerprint = i.fingerprint)`

// Interval statistics by Welford's algorithm, over measurement times: spooled heartbeats are sent late. The limit discounts old
// intervals, so that a new rhythm is learned within the hour.
const MAX_INTERVALS = 119
const interval = (last: string) => `date_part('epoch', i.measured_at - ${last}.measured_at)`
const isSample = (last: string) => `(${last}.measured_at is not null and ${last}.boot_epoch = i.epoch)`
const KEPT = `least(b.intervals, ${MAX_INTERVALS})`
const NEW_MEAN = `(b.interval_mean + (${interval('b')} - b.interval_mean) / (${KEPT} + 1))`
const gap = (last: string) => `(case when ${last}.boot_epoch = i.epoch then i.sequence - ${last}.sequence - 1 else 0 end)`
/** Largest exact number. An agent that keeps skipping sequence numbers must not overflow the column. */
const MAX_MISSED = 2 ** 53 - 1
const inBucket = (sum: string, more: string) => `case when b.bucket_at = i.bucket then b.${sum} + ${more} else ${more} end`

// An interval is irregular when it differs from the mean by more than three standard deviations, a second and a tenth of the mean. Networks jitter.
const IS_ODD = `(o.intervals >= 5 and ${isSample('o')} and abs(${interval('o')} - o.interval_mean) > greatest(1, o.interval_mean / 10)
  and abs(${interval('o')} - o.interval_mean) > 3 * sqrt(o.interval_m2 / (o.intervals - 1)))`

/** Clock skew in milliseconds above which an alert is raised. */
const SKEW_MS = 60_000

/** Findings for alerts and state transitions. Null for most heartbeats, which keeps the result small. */
const NOTABLE = `case when a.state in ('PENDING', 'STALE', 'OFFLINE') or ${gap('o')} > 0 or ${IS_ODD}
    or (abs(i.skew_ms) > ${SKEW_MS}) <> (abs(coalesce(o.skew_ms, 0)) > ${SKEW_MS})
    or a.version is distinct from i.version or a.fingerprint is null and i.fingerprint is not null
    or o.gpus_total <> i.gpus_total or o.lost_accelerators <> i.lost
  then jsonb_build_object('nodeId', i.node_id, 'tenantId', a.tenant_id, 'state', a.state, 'gap', ${gap('o')}, 'isOdd', ${IS_ODD},
    'interval', ${interval('o')}, 'intervalMean', o.interval_mean, 'intervals', o.intervals, 'intervalM2', o.interval_m2,
    'skewMs', i.skew_ms, 'isSkewNew', abs(i.skew_ms) > ${SKEW_MS} and not abs(coalesce(o.skew_ms, 0)) > ${SKEW_MS},
    'isSkewOver', abs(i.skew_ms) <= ${SKEW_MS} and abs(coalesce(o.skew_ms, 0)) > ${SKEW_MS}, 'sequence', i.sequence,
    'version', i.version, 'isOtherVersion', a.version is distinct from i.version,
    'fingerprint', case when a.fingerprint is null then i.fingerprint end,
    'gpusBefore', o.gpus_total, 'gpus', i.gpus_total, 'lostBefore', o.lost_accelerators, 'lost', i.lost,
    'isExcused', coalesce(o.received_at < g.up_since, false) or a.offline_suppressed_at is not null) end`

/**
 * Stores the acceptable heartbeats. Postgres evaluates the condition again on the locked row, so only one of two concurrent heartbeats
 * with the same sequence is stored. Returns one row with the places of the stored ones.
 */
export const ACCEPT = {
  name: 'accept_heartbeats',
  text: `
with given as materialized (select *, date_bin('5 minutes', now, 'epoch') as bucket from (${GIVEN}) g order by node_id),
stored as (
  update agent_heartbeats b set
    boot_epoch = i.epoch, sequence = i.sequence, received_at = i.now, agent_time = i.agent_time, measured_at = i.measured_at, skew_ms = i.skew_ms::integer,
    intervals = case when ${isSample('b')} then ${KEPT} + 1 else b.intervals end,
    interval_mean = case when ${isSample('b')} then ${NEW_MEAN} else b.interval_mean end,
    interval_m2 = case when ${isSample('b')} then b.interval_m2 * ${KEPT} / greatest(b.intervals, 1)
      + (${interval('b')} - b.interval_mean) * (${interval('b')} - ${NEW_MEAN}) else b.interval_m2 end,
    accepted = b.accepted + 1, missed = least(b.missed + ${gap('b')}, ${MAX_MISSED}),
    health = i.health, slurm_state = i.slurm_state, reported_drain = i.reported_drain, running_jobs = i.running_jobs,
    cpu_percent = i.cpu_percent, memory_percent = i.memory_percent, gpus_total = i.gpus_total, gpus_available = i.gpus_available,
    lost_accelerators = i.lost,
    bucket_at = i.bucket, bucket_heartbeats = ${inBucket('bucket_heartbeats', '1')},
    bucket_missed = least(${inBucket('bucket_missed', gap('b'))}, 1000000)::integer,
    bucket_cpu_sum = ${inBucket('bucket_cpu_sum', 'coalesce(i.cpu_percent, 0)')},
    bucket_memory_sum = ${inBucket('bucket_memory_sum', 'coalesce(i.memory_percent, 0)')},
    bucket_max_skew_ms = case when b.bucket_at = i.bucket and b.bucket_max_skew_ms > abs(i.skew_ms) then b.bucket_max_skew_ms
      else abs(i.skew_ms)::integer end
  from given i
    join agent_heartbeats o on o.node_id = i.node_id
    join agents a on a.node_id = i.node_id
    join agent_keys k on k.id = i.key_id
    left join ingest_liveness g on g.id = 1
  where b.node_id = i.node_id and i.is_in_bounds and ${IS_ALLOWED} and ${IS_IN_TIME} and ${isGrowing('b')} and ${IS_SAME_MACHINE}
  returning i.place, i.node_id, i.bucket, i.now, i.report, o.bucket_at, o.bucket_heartbeats, o.bucket_missed, o.bucket_cpu_sum,
    o.bucket_memory_sum, o.bucket_max_skew_ms, o.cpu_percent as old_cpu, o.memory_percent as old_memory, ${NOTABLE} as notable),
history as (
  insert into agent_heartbeat_history (node_id, bucket_at, beats, missed, cpu_percent, memory_percent, max_skew_ms)
  select node_id, bucket_at, bucket_heartbeats, bucket_missed, case when old_cpu is not null then bucket_cpu_sum / bucket_heartbeats end,
    case when old_memory is not null then bucket_memory_sum / bucket_heartbeats end, bucket_max_skew_ms
  from stored where bucket_heartbeats > 0 and bucket_at < bucket
  on conflict do nothing),
reports as (
  insert into agent_reports as r (node_id, report, received_at) select node_id, report::json, now from stored
  on conflict (node_id) do update set report = excluded.report, received_at = excluded.received_at)
select string_agg(place::text, ',') as places, json_agg(notable) filter (where notable is not null) as notable from stored`,
}

// Detects two machines with one key. An agent signs heartbeats in the order of (epoch, sequence). A heartbeat below the accepted
// position with a later time comes from another machine with the same key, or from a restored machine. Two machines are proven when
// both positions advance. Replays have earlier times, a restored machine is the only sender, and a restored spool arrives in one batch.
const IS_DUPLICATE = `(v.verdict = 'stale_sequence' and (i.epoch, i.sequence) < (b.boot_epoch, b.sequence) and i.agent_time > b.agent_time)`
const last = (field: string) => `(a.duplicate_key_evidence->>'${field}')::bigint`
const IS_RECENT = `(i.now - (a.duplicate_key_evidence->>'at')::timestamptz < make_interval(secs => greatest(600, 3 * b.interval_mean)))`
const HAS_GONE_ON = `((b.boot_epoch, b.sequence) <> (${last('acceptedEpoch')}, ${last('acceptedSequence')}))`
const IS_SHARED = `coalesce(${IS_RECENT} and ${HAS_GONE_ON} and i.epoch = ${last('bootEpoch')} and i.sequence > ${last('sequence')}, false)`
const EVIDENCE = `jsonb_build_object('at', i.now, 'bootEpoch', i.epoch, 'sequence', i.sequence, 'bootId', i.report::json->'health'->>'boot_id',
  'acceptedEpoch', b.boot_epoch, 'acceptedSequence', b.sequence, 'acceptedBootId', r.report->'health'->>'boot_id')`

/**
 * Reasons of the rejected heartbeats, in the order of the wire protocol. `busy` when no reason is left, for example after a concurrent
 * approval; the agent then sends the heartbeat again.
 */
export const EXPLAIN = {
  name: 'explain_heartbeats',
  text: `
select i.place::integer, v.verdict, (i.epoch, i.sequence, i.agent_time) = (b.boot_epoch, b.sequence, b.agent_time) as "isThere",
  case
    when v.verdict = 'timestamp_out_of_range' and ${isGrowing('b')} and abs(coalesce(b.skew_ms, 0)) <= ${SKEW_MS}
      then jsonb_build_object('nodeId', i.node_id, 'tenantId', a.tenant_id, 'isSkewNew', true, 'isRejected', true, 'skewMs', i.skew_ms)
    when ${IS_DUPLICATE} and (${IS_RECENT} and not ${HAS_GONE_ON}) is not true
      then jsonb_build_object('nodeId', i.node_id, 'tenantId', a.tenant_id, 'duplicateKeyEvidence', ${EVIDENCE}, 'isShared', ${IS_SHARED})
    when v.verdict = 'approval_pending' and a.offered_fingerprint is distinct from i.fingerprint
      then jsonb_build_object('nodeId', i.node_id, 'tenantId', a.tenant_id, 'offered', i.fingerprint) end as notable
from (${GIVEN}) i
  left join agents a on a.node_id = i.node_id
  left join agent_heartbeats b on b.node_id = i.node_id
  left join agent_keys k on k.id = i.key_id
  left join agent_reports r on r.node_id = i.node_id
  cross join lateral (select case
    when a.node_id is null or a.state = 'DEREGISTERED' then 'node_not_registered'
    when (${IS_ALLOWED}) is not true then 'signature_invalid'
    when not ${IS_IN_TIME} then 'timestamp_out_of_range'
    when not ${isGrowing('b')} then 'stale_sequence'
    when not i.is_in_bounds then 'invalid_request'
    when not ${IS_SAME_MACHINE} then 'approval_pending'
    else 'busy' end as verdict) v`,
}

// One thread pool, one loop. Chunks follow from the sizes alone; which thread takes which chunk does not matter,
// because a chunk writes only what it owns and sums are added in chunk order.
//
// Chunks are handed out by one word, the ticket: the loop's number and how many chunks are left. Who takes one holds
// the loop open until that chunk is done, so that no lock is needed to enter or to leave, and who comes late finds
// nothing. Loops of solvers last some ten microseconds and follow each other at once: with a mutex at entry and exit
// sixteen threads were slower than eight.
//
// A pool that is larger than its loops are long takes fewer threads into them: the others sleep apart, as each that looks
// for a chunk takes the ticket's cache line from those that work (workers_limit).
//
// Waiting threads spin for at most some 20 microseconds and then sleep: longer spinning collapses when another
// process takes a core (measured: one solve went from 0.022 s to 4.1 s). A loop wakes no more threads than it has
// chunks for.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/core.h"

enum
{
    WORKERS_MAX = 256,
    SPIN_NANOSECONDS = 20000,
    CACHE_LINE = 64
};

typedef struct job
{
    parallel_fn* fn;
    void* context;
    int count, grain, chunk_count;
} job;

// A thread's place: those from `active` on sit out.
typedef struct seat
{
    workers* pool;
    int index;
} seat;

struct workers
{
    int thread_count;  // threads of our own, the caller not counted
    atomic_int active; // of them that take part
    seat seats[WORKERS_MAX];
    pthread_t threads[WORKERS_MAX];
    weft_task_hooks hooks;

    job current;                                  // stays as it is while a chunk of it is not done
    _Alignas(CACHE_LINE) _Atomic uint64_t ticket; // number of the loop << 32 | chunks not yet handed out
    _Alignas(CACHE_LINE) atomic_int undone;       // chunks of the loop

    _Alignas(CACHE_LINE) pthread_mutex_t mutex; // only to sleep and to wake
    pthread_cond_t wake, done, enlarge;
    atomic_int sleepers; // threads that take part
    atomic_bool waiting; // the caller sleeps until all is done
    atomic_bool stop;
    double* partial; // [partial_capacity] sums of chunks
    int partial_capacity;
};

static _Thread_local bool inside_loop; // a nested call runs inline

static int64_t nanoseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double timer_now(void)
{
    return 1e-9 * (double)nanoseconds_now();
}

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void job_run_chunk(const job* j, int chunk)
{
    int begin = chunk * j->grain;
    int end = j->count - begin > j->grain ? begin + j->grain : j->count;
    j->fn(j->context, begin, end);
}

static uint32_t loop_of(uint64_t ticket)
{
    return (uint32_t)(ticket >> 32);
}

// The next chunk of whichever loop is open; -1: there is none.
static int take_chunk(workers* pool)
{
    uint64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    while ((uint32_t)ticket > 0)
    {
        if (atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1, memory_order_acq_rel,
                                                  memory_order_acquire))
        {
            return pool->current.chunk_count - (int)(uint32_t)ticket;
        }
    }
    return -1;
}

// Chunks until all are handed out.
static void drain(workers* pool)
{
    inside_loop = true;
    for (int chunk; (chunk = take_chunk(pool)) >= 0;)
    {
        job_run_chunk(&pool->current, chunk);
        if (atomic_fetch_sub(&pool->undone, 1) == 1 && atomic_load(&pool->waiting))
        {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
    inside_loop = false;
}

typedef bool wait_fn(workers* pool, uint32_t seen); // whether there is nothing to do yet

static bool no_new_loop(workers* pool, uint32_t seen)
{
    return loop_of(atomic_load(&pool->ticket)) == seen && !atomic_load(&pool->stop);
}

static bool not_done(workers* pool, uint32_t unused)
{
    (void)unused;
    return atomic_load(&pool->undone) > 0;
}

static void spin_while(wait_fn* waits, workers* pool, uint32_t seen)
{
    int64_t deadline = nanoseconds_now() + SPIN_NANOSECONDS;
    do
    {
        for (int k = 0; k < 32; k++)
        {
            if (!waits(pool, seen))
            {
                return;
            }
            cpu_relax();
        }
    } while (nanoseconds_now() < deadline);
}

static bool sits_out(const seat* s)
{
    return s->index >= atomic_load(&s->pool->active) && !atomic_load(&s->pool->stop);
}

// Until the pool is wanted larger, or ends.
static void sit_out(const seat* s)
{
    pthread_mutex_lock(&s->pool->mutex);
    while (sits_out(s))
    {
        pthread_cond_wait(&s->pool->enlarge, &s->pool->mutex);
    }
    pthread_mutex_unlock(&s->pool->mutex);
}

static void await_loop(const seat* s, uint32_t seen)
{
    workers* pool = s->pool;
    spin_while(no_new_loop, pool, seen);
    if (no_new_loop(pool, seen))
    {
        // The caller writes the ticket and then looks for sleepers, a thread the other way round: one of them sees
        // the other.
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_add(&pool->sleepers, 1);
        while (no_new_loop(pool, seen) && !sits_out(s))
        {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        atomic_fetch_sub(&pool->sleepers, 1);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void* worker_main(void* argument)
{
    const seat* s = argument;
    workers* pool = s->pool;
    uint32_t seen = 0;
    while (!atomic_load(&pool->stop))
    {
        if (sits_out(s))
        {
            sit_out(s);
            continue;
        }
        await_loop(s, seen);
        seen = loop_of(atomic_load(&pool->ticket));
        drain(pool);
    }
    return NULL;
}

weft_status workers_create(int count, const weft_task_hooks* hooks, workers** out)
{
    *out = NULL;
    workers* pool = MEM_NEW(1, workers);
    if (!pool)
    {
        return WEFT_NO_MEMORY;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pthread_cond_init(&pool->enlarge, NULL);
    *out = pool;
    if (hooks && hooks->run)
    {
        pool->hooks = *hooks;
        return WEFT_OK;
    }
    count = count > WORKERS_MAX ? WORKERS_MAX : count;
    atomic_store(&pool->active, count - 1);
    for (int k = 0; k + 1 < count; k++)
    {
        pool->seats[k] = (seat){pool, k};
        if (pthread_create(&pool->threads[k], NULL, worker_main, &pool->seats[k]) != 0)
        {
            break; // fewer threads give the same bits
        }
        pool->thread_count++;
    }
    atomic_store(&pool->active, pool->thread_count);
    return WEFT_OK;
}

void workers_limit(workers* pool, int count)
{
    int active = pool ? int_min(pool->thread_count, int_max(0, count - 1)) : 0;
    if (!pool || active == atomic_load(&pool->active))
    {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->active, active);
    pthread_cond_broadcast(&pool->enlarge);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

void workers_destroy(workers* pool)
{
    if (!pool)
    {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_cond_broadcast(&pool->enlarge);
    pthread_mutex_unlock(&pool->mutex);
    for (int k = 0; k < pool->thread_count; k++)
    {
        pthread_join(pool->threads[k], NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->enlarge);
    pthread_mutex_destroy(&pool->mutex);
    mem_free(pool->partial);
    mem_free(pool);
}

int workers_count(const workers* pool)
{
    return pool ? pool->thread_count + 1 : 1;
}

static void hook_chunk(void* context, int index)
{
    bool outer = inside_loop;
    inside_loop = true;
    job_run_chunk(context, index);
    inside_loop = outer;
}

// Those that spin come by themselves.
static void wake_threads(workers* pool, int wanted)
{
    int sleepers = atomic_load(&pool->sleepers);
    int count = int_min(sleepers, wanted - (atomic_load(&pool->active) - sleepers));
    if (count <= 0)
    {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    for (int k = 0; k < count; k++)
    {
        pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->mutex);
}

// Chunks that others are in: each is the last of its thread.
static void await_done(workers* pool)
{
    spin_while(not_done, pool, 0);
    if (not_done(pool, 0))
    {
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->waiting, true);
        while (not_done(pool, 0))
        {
            pthread_cond_wait(&pool->done, &pool->mutex);
        }
        atomic_store(&pool->waiting, false);
        pthread_mutex_unlock(&pool->mutex);
    }
}

void parallel_for(workers* pool, int count, int grain, parallel_fn* fn, void* context)
{
    WEFT_ASSERT(grain > 0);
    if (count <= 0)
    {
        return;
    }
    job j = {fn, context, count, grain, (count - 1) / grain + 1};
    bool serial = !pool || inside_loop || j.chunk_count == 1 || (atomic_load(&pool->active) == 0 && !pool->hooks.run);
    if (serial)
    {
        for (int chunk = 0; chunk < j.chunk_count; chunk++)
        {
            job_run_chunk(&j, chunk);
        }
        return;
    }
    if (pool->hooks.run)
    {
        pool->hooks.run(j.chunk_count, hook_chunk, &j, pool->hooks.user);
        return;
    }

    pool->current = j;
    atomic_store(&pool->undone, j.chunk_count);
    uint32_t loop = loop_of(atomic_load(&pool->ticket)) + 1;
    atomic_store(&pool->ticket, (uint64_t)loop << 32 | (uint64_t)j.chunk_count);
    wake_threads(pool, j.chunk_count - 1);
    drain(pool);
    await_done(pool);
}

typedef struct sum_context
{
    parallel_sum_fn* fn;
    void* context;
    int grain;
    double* partial;
} sum_context;

static void sum_chunk(void* context, int begin, int end)
{
    sum_context* s = context;
    s->partial[begin / s->grain] = s->fn(s->context, begin, end);
}

double parallel_sum(workers* pool, int count, int grain, parallel_sum_fn* fn, void* context)
{
    if (count <= 0)
    {
        return 0.0;
    }
    int chunk_count = (count - 1) / grain + 1;
    double total = 0.0;
    bool stored =
        pool && !inside_loop && mem_grow((void**)&pool->partial, &pool->partial_capacity, chunk_count, sizeof(double));
    if (!stored)
    {
        // Same chunks, same order of addition.
        for (int begin = 0; begin < count; begin += grain)
        {
            total += fn(context, begin, int_min(count, begin + grain));
        }
        return total;
    }
    sum_context s = {fn, context, grain, pool->partial};
    parallel_for(pool, count, grain, sum_chunk, &s);
    for (int chunk = 0; chunk < chunk_count; chunk++)
    {
        total += pool->partial[chunk];
    }
    return total;
}

// One thread pool, one loop. Chunks follow from the sizes alone; which thread takes which chunk does not matter,
// because a chunk writes only what it owns and sums are added in chunk order.
//
// Waiting threads spin for at most some 20 microseconds and then sleep: longer spinning collapses when another
// process takes a core (measured: one solve went from 0.022 s to 4.1 s).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/core.h"

enum
{
    WORKERS_MAX = 256,
    SPIN_NANOSECONDS = 20000
};

typedef struct job
{
    parallel_fn* fn;
    void* context;
    int count, grain, chunk_count;
} job;

struct workers
{
    int thread_count; // threads of our own, the caller not counted
    pthread_t threads[WORKERS_MAX];
    weft_task_hooks hooks;

    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    job current;            // written under the mutex before `generation` moves
    bool open;              // under the mutex: threads may still enter the current job
    bool stop;              // under the mutex
    atomic_uint generation; // moves once a job
    atomic_int next_chunk;  // chunks handed out
    atomic_int active;      // threads inside the current job; moves under the mutex, read outside
    double* partial;          // [partial_capacity] sums of chunks
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

static void job_drain(workers* pool, const job* j)
{
    inside_loop = true;
    for (;;)
    {
        int chunk = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (chunk >= j->chunk_count)
        {
            break;
        }
        job_run_chunk(j, chunk);
    }
    inside_loop = false;
}

static bool spin_until_changed(const atomic_uint* value, unsigned old)
{
    int64_t deadline = nanoseconds_now() + SPIN_NANOSECONDS;
    do
    {
        for (int k = 0; k < 32; k++)
        {
            if (atomic_load_explicit(value, memory_order_acquire) != old)
            {
                return true;
            }
            cpu_relax();
        }
    } while (nanoseconds_now() < deadline);
    return false;
}

static void* worker_main(void* argument)
{
    workers* pool = argument;
    unsigned seen = 0;
    for (;;)
    {
        spin_until_changed(&pool->generation, seen);
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->generation) == seen && !pool->stop)
        {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        if (pool->stop)
        {
            pthread_mutex_unlock(&pool->mutex);
            return NULL;
        }
        seen = atomic_load(&pool->generation);
        if (!pool->open)
        {
            pthread_mutex_unlock(&pool->mutex); // came too late: the others have done it
            continue;
        }
        job j = pool->current;
        atomic_fetch_add(&pool->active, 1);
        pthread_mutex_unlock(&pool->mutex);

        job_drain(pool, &j);

        pthread_mutex_lock(&pool->mutex);
        if (atomic_fetch_sub(&pool->active, 1) == 1)
        {
            pthread_cond_signal(&pool->done);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
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
    *out = pool;
    if (hooks && hooks->run)
    {
        pool->hooks = *hooks;
        return WEFT_OK;
    }
    count = count > WORKERS_MAX ? WORKERS_MAX : count;
    for (int k = 0; k + 1 < count; k++)
    {
        if (pthread_create(&pool->threads[k], NULL, worker_main, pool) != 0)
        {
            break; // fewer threads give the same bits
        }
        pool->thread_count++;
    }
    return WEFT_OK;
}

void workers_destroy(workers* pool)
{
    if (!pool)
    {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int k = 0; k < pool->thread_count; k++)
    {
        pthread_join(pool->threads[k], NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
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

void parallel_for(workers* pool, int count, int grain, parallel_fn* fn, void* context)
{
    WEFT_ASSERT(grain > 0);
    if (count <= 0)
    {
        return;
    }
    job j = {fn, context, count, grain, (count - 1) / grain + 1};
    bool serial = !pool || inside_loop || j.chunk_count == 1 || (pool->thread_count == 0 && !pool->hooks.run);
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

    pthread_mutex_lock(&pool->mutex);
    pool->current = j;
    pool->open = true;
    atomic_store(&pool->next_chunk, 0);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);

    job_drain(pool, &j);

    // No thread may enter any more; those inside are in their last chunk: wait briefly, then sleep.
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    pthread_mutex_unlock(&pool->mutex);
    int64_t deadline = nanoseconds_now() + SPIN_NANOSECONDS;
    while (atomic_load(&pool->active) != 0 && nanoseconds_now() < deadline)
    {
        cpu_relax();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->active) != 0)
    {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
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
    bool stored = pool && !inside_loop && mem_grow((void**)&pool->partial, &pool->partial_capacity, chunk_count, sizeof(double));
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

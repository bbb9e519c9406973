// SPDX-License-Identifier: Apache-2.0
/**
 * Registered memory under one account: {@link org.sparkrdma.memory.PinnedBudget} limits the pinned
 * bytes, {@link org.sparkrdma.memory.RegisteredPool} lends chunks of it.
 *
 * <p>Safe for any thread.
 */
package org.sparkrdma.memory;

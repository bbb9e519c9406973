// SPDX-License-Identifier: Apache-2.0
/**
 * Registered memory under one account: {@link org.sparkrdma.memory.PinnedBudget} says how much may
 * be pinned, {@link org.sparkrdma.memory.RegisteredPool} lends chunks of it.
 *
 * <p>Safe for any thread.
 */
package org.sparkrdma.memory;

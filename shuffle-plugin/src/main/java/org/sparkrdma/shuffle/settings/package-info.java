// SPDX-License-Identifier: Apache-2.0
/**
 * Every key {@code spark.shuffle.rdma.*} in one table, {@link
 * org.sparkrdma.shuffle.settings.ShuffleSetting}, and the values of one application, validated
 * once: {@link org.sparkrdma.shuffle.settings.ShuffleSettings}.
 *
 * <p>Immutable; safe for any thread.
 */
package org.sparkrdma.shuffle.settings;

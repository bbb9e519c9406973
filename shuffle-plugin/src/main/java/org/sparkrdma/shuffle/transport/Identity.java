// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.shuffle.directory.Endpoint;

/**
 * What an executor shows to others, and proves. {@code RdmaStart} creates it at each start.
 *
 * @param endpoint its listener addresses, and the token that proves it
 * @param secret of the application ({@code spark.authenticate}), known to both ends of a
 *     connection; empty without authentication: then the token alone proves
 */
public record Identity(Endpoint endpoint, byte[] secret) {}

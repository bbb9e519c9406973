// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

/**
 * The key of proofs to an executor: its token from the driver's directory, bound to the
 * application's secret if there is one ({@code spark.authenticate}), so that both are needed.
 * Stateless.
 */
public final class ProofKey {
  private ProofKey() {}

  /**
   * HMAC-SHA-256 (RFC 2104) of the token with the secret.
   *
   * @param secret of the application; empty without authentication, then the token itself is the
   *     key
   */
  public static byte[] of(byte[] token, byte[] secret) {
    return secret.length == 0 ? token.clone() : Hmac.withKey(secret).doFinal(token);
  }
}

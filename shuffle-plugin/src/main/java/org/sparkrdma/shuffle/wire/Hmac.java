// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA-256 (RFC 2104) of the JDK, and the key of proofs. Stateless. */
public final class Hmac {
  private static final String ALGORITHM = "HmacSHA256";

  private Hmac() {}

  /**
   * The key of proofs to an executor: its token from the driver's directory, bound to the
   * application's secret if there is one ({@code spark.authenticate}), so that both are needed.
   *
   * @param secret of the application; empty without authentication, then the token itself is the
   *     key
   */
  public static byte[] proofKey(byte[] token, byte[] secret) {
    return secret.length == 0 ? token.clone() : withKey(secret).doFinal(token);
  }

  /** Returns an HMAC with this key, which must not be empty. */
  public static Mac withKey(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JVM has no HmacSHA256", e);
    }
  }
}

/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.wire;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The key that proofs to an executor are made with: its token, which the driver's directory tells,
 * bound to the application's secret where there is one ({@code spark.authenticate}). Then neither
 * alone is enough. Stateless.
 */
public final class ProofKey {
  private static final String ALGORITHM = "HmacSHA256";

  private ProofKey() {}

  /**
   * HMAC-SHA-256 (RFC 2104) of the token with the secret.
   *
   * @param secret of the application; empty without authentication, then the token itself is the
   *     key
   */
  public static byte[] of(byte[] token, byte[] secret) {
    if (secret.length == 0) {
      return token.clone();
    }
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return mac.doFinal(token);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }
}

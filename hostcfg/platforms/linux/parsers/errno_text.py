"""What strerror() says in each language that glibc speaks, by what it means for a key.

From glibc 2.36's translations (libc.mo) of EACCES and EPERM, ENOENT, EROFS, EINVAL, EIO, EOPNOTSUPP
and ERANGE, musl's own wording, and procps-ng.mo of 4.0.2 for the sentences that come without an
errno.  A shell under ``LANG=de_DE`` prints these, whatever program it runs.
"""

from __future__ import annotations


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


ERRNO_TEXT: dict[str, tuple[str, ...]] = {
    "denied": _phrases(
        "A művelet nem engedélyezett|Actie is niet toegestaan|Adgang nægtet|Brak dostępu|"
        "Die Operation ist nicht erlaubt|Engedély megtagadva|Erişim engellendi|Ijin ditolak|"
        "Ikke tilgang|Keine Berechtigung|Không đủ quyền truy cập|Lupa evätty|"
        "L’operació no és permesa|Mankas permeso|Operace není povolena|Operace zamítnuta|"
        "Operacija neleidžiama|Operacija ni dovoljena|Operacija nije dopuštena|"
        "Operacio ne permesatas|Operación no permitida|Operación non permitida|"
        "Operacja niedozwolona|Operasi tidak diijinkan|Operasjonen er ikke tillatt|"
        "Operation not permitted|Operationen er ikke tilladt|Operationen inte tillåten|"
        "Operazione non permessa|Operação não permitida|Operácia nie je povolená|"
        "Opération non permise|Permesso negato|Permiso denegado|Permission denied|"
        "Permission non accordée|Permissão negada|Permissão recusada|Pristup je odbijen|"
        "Prístup odmietnutý|S’ha denegat el permís|Thao tác không được phép|Toegang geweigerd|"
        "Toiminto ei ole sallittu|Åtkomst nekas|İşleme izin verilmedi|Άρνηση πρόσβασης|"
        "Η λειτουργία δεν επιτρέπεται|Відмовлено у доступі|Действието не е позволено|"
        "Дію заборонено|Овлашћење је одбијено|Операция не позволена|Отказан достъп|"
        "Отказано в доступе|Радња није допуштена|бракуе правоў|дзеяньне не дазволена|不允许的操作|"
        "拒絕不符權限的操作|权限不够|此項操作並不被允許|許可がありません|許可されていない操作です|"
        "명령을 허용하지 않음|허가 거부"
    ),
    "absent": _phrases(
        "Adresár alebo súbor neexistuje|Adresář nebo soubor neexistuje|"
        "Arquivo ou diretório inexistente|Aucun fichier ou dossier de ce type|"
        "Bestand of map bestaat niet|Böyle bir dosya ya da dizin yok|"
        "Datei oder Verzeichnis nicht gefunden|Datoteka ali imenik s tem imenom ne obstaja|"
        "Dosiero aŭ dosierujo ne ekzistas|El fitxer o directori no existeix|"
        "Ficheiro ou pasta inexistente|File o directory non esistente|"
        "Filen eller katalogen finns inte|Ingen slik fil eller filkatalog|"
        "Ingen sådan fil eller filkatalog|Không có tập tin hoặc thư mục như vậy|"
        "Necun tal file o directorio|Nema takve datoteke ili direktorija|"
        "Nie ma takiego pliku ani katalogu|Nincs ilyen fájl vagy könyvtár|"
        "No existe el fichero o el directorio|No such file or directory|"
        "Non hai tal ficheiro ou directorio|Tidak ada berkas atau direktori seperti itu|"
        "Tiedostoa tai hakemistoa ei ole|Toks failas ar aplankas neegzistuoja|"
        "Δεν υπάρχει τέτοιο αρχείο ή κατάλογος|Нема такве датотеке или директоријума|"
        "Немає такого файла або каталогу|Нет такого файла или каталога|"
        "Няма такога файла ці каталога|Няма такъв файл или директория|"
        "そのようなファイルやディレクトリはありません|沒有此一檔案或目錄|没有那个文件或目录|"
        "그런 파일이나 디렉터리가 없습니다"
    ),
    "read_only": _phrases(
        "Bestandssysteem is alleen-lezen|Das Dateisystem ist nur lesbar|"
        "Datotečni sistem je zgolj za branje|Datotečni sustav je samo za čitanje|"
        "El sistema de fitxers és només de lectura|Failų sistema tik skaitymui|"
        "File system in sola lettura|Filsystem med kun lesetilgang|Filsystem med kun læseadgang|"
        "Hệ thống tập tin chỉ cho đọc|Kirjoitussuojattu tiedostojärjestelmä|Nur-lega dosiersistemo|"
        "Read-only file system|Salt-okunur dosya sistemi|Sistem berkas baca-saja|"
        "Sistema de arquivos somente para leitura|Sistema de ficheiros de só lectura|"
        "Sistema de ficheiros só de leitura|Sistema de ficheros de sólo lectura|"
        "Skrivskyddat filsystem|System plików wyłącznie do odczytu|"
        "Système de fichiers accessible en lecture seulement|Systém souborů je pouze pro čtení|"
        "Súborový systém dovoľuje len čítanie|Írásvédett fájlrendszer|"
        "Αναγνώσιμο-μόνο σύστημα αρχείων|Систем датотека само за читање|"
        "Файлова система само за четене|Файлова система тільки для зчитування|"
        "Файловая система доступна только для чтения|只读文件系统|唯讀的檔案系統|"
        "読み込み専用ファイルシステムです|읽기전용 파일 시스템"
    ),
    "invalid": _phrases(
        "Argomento non valido|Argumen tidak valid|Argument invalide|Argumento inválido|"
        "Das Argument ist ungültig|Geçersiz argüman|Inkoresha siyo|Invalid argument|"
        "L’argument passat no és vàlid|Neprípustný argument|Nepřípustný argument|"
        "Netinkamas argumentas|Nevalida argumento|Nevaljani argument|Neveljavni argument|"
        "Ogiltigt argument|Ongeldig argument|Parámetro incorrecto|Ugyldig argument|"
        "Ugyldigt argument|Virheellinen argumentti|Zły argument|Érvénytelen argumentum|"
        "Đối số không hợp lệ|Μη έγκυρη παράμετρος|Недопустимый аргумент|Неисправан аргумент|"
        "Некоректний аргумент|Неправилен аргумент|不適用的引數|无效的参数|無効な引数です|"
        "부적절한 인수"
    ),
    "unreadable": _phrases(
        "Błąd wejścia/wyjścia|Chyba vstupu/výstupu|Eingabe-/Ausgabefehler|Eraro de en-eligo|"
        "Erreur d'entrée/sortie|Erro de Entrada/saída|Erro de entrada/saída|"
        "Error de entrada/salida|Error d’Entrada/Sortida|Errore di input/output|Girdi/Çıktı hatası|"
        "I/O error|I/O-virhe|In/ut-fel|Inddata/uddata-fejl|Inn/ut-feil|Input/output error|"
        "Invoer-/uitvoerfout|Kimeneti/bemeneti hiba|Lỗi vào/ra|Ulazno/izlazna greška|"
        "Vhodno/izhodna napaka|error Masukan/Keluaran|Įvedimo/išvedimo klaida|"
        "Σφάλμα εισόδου/εξόδου|Входно-изходна грешка|Ошибка ввода/вывода|Памылка ўводу-вываду|"
        "Помилка введення-виведення|Улазно/излазна грешка|入力/出力エラーです|輸入/輸出錯誤|"
        "输入/输出错误|입력/출력 오류"
    ),
    "unsupported": _phrases(
        "A művelet nem támogatott|Actie wordt niet ondersteund|"
        "Die Operation wird nicht unterstützt|La operación no está soportada|"
        "No es permet l’ús de l’operació|Not supported|Operace není podporována|"
        "Operacija nepalaikoma|Operacija ni podprta|Operacija nije podržana|Operacio ne subtenatas|"
        "Operación non soportada|Operacja nie obsługiwana|Operasi tidak didukung|"
        "Operasjonen er ikke støttet|Operation not supported|Operationen er ikke understøttet|"
        "Operationen stöds ej|Operazione non supportata|Operação não suportada|"
        "Operação sem suporte|Operácia nie je podporovaná|Opération non supportée|"
        "Thao tác không được hỗ trợ|Toiminto ei ole tuettu|İşlem desteklenmiyor|"
        "Η λειτουργία δεν υποστηρίζεται|Дія не підтримується|Неподдерживаемая операция|"
        "Неподдържана операция|Радња није подржана|サポートされていない操作です|不支持的操作|"
        "此項操作並不被支援|명령을 지원하지 않음"
    ),
    "range": _phrases(
        "A numerikus eredmény kívül esik a tartományon|"
        "Das numerische Ergebnis ist außerhalb des gültigen Bereiches|"
        "El resultat numèric és fora de rang|Hasil numerik diluar dari jangkauan|"
        "Kết quả nằm ở ngoại phạm vi|Le résultat numérique est en dehors de l'intervalle|"
        "Numeerinen tulos on sallitun välin ulkopuolella|Numereca rezulto estas ekster gamo|"
        "Numerical result out of range|Numeriek resultaat valt buiten bereik|"
        "Numerisk resultat er udenfor gyldigt område|Numerisk resultat er utenfor gyldig område|"
        "Numeriskt resultat är utanför giltigt intervall|Numerički rezultat je izvan granica|"
        "Result too large|Resultado numérico fora de alcance|Resultado numérico fora do intervalo|"
        "Resultado numérico fuera de rango|Resultado numérico fóra de rango|"
        "Risultato numerico fuori dall'intervallo|Sayısal sonuç kapsam dışı|"
        "Skaitinis rezultatas už ribų|Wynik liczbowy poza zakresem|Číselný výsledek mimo rozsah|"
        "Číselný výsledok mimo povoleného rozsahu|Številčni rezultat izven obsega|"
        "Το αριθμητικό αποτέλεσμα είναι έξω από το πεδίο|Бројевни резултат је ван опсега|"
        "Не представим числов резултат|Числовий результат поза дозволеним діапазоном|"
        "Числовой результат вне представимого диапазона|数值结果超出范围|數值運算結果超出範圍|"
        "計算結果は範囲外の値です|범위를 벗어난 수치 결과"
    ),
}

# procps: '"%s" is an unknown key'.
UNKNOWN_KEY = _phrases(
    "est une clé inconnue|este o cheie necunoscută|is an unknown key|"
    "ist ein unbekannter Schlüssel|là một khóa chưa biết|nieznany klucz|är en okänd nyckel|"
    "é uma chave desconhecida|є невідомим ключем|알 수 없는 키입니다"
)

# procps: 'permission denied on key "%s"'.
DENIED_KEY = _phrases(
    "Zugriff verweigert auf Schlüssel|brak uprawnień do klucza|không đủ thẩm quyền với khóa|"
    "permisiunea a fost refuzată pentru cheia|permission denied on key|"
    "permission refusée sur la clé|permissão negada pela chave|tillåtelse nekad för nyckeln|"
    "доступ до ключа|заборонено доступ до ключа|키 사용 권한을 거부했습니다"
)
